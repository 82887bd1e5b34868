// Opens pages in Chromium, and prints what it measures as JSON. Arguments: the module of playwright-core, the
// program of Chromium, a folder for screenshots or "", and the pages.
import { pathToFileURL } from "node:url";
import path from "node:path";

const [library, program, shots, ...pages] = process.argv.slice(2);
const { chromium } = (await import(pathToFileURL(library))).default;
const WIDTHS = [1100, 400];
const SCHEMES = ["light", "dark"];

const browser = await chromium.launch({
  executablePath: program,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

// Runs in the page.
function measure() {
  const numbers = (color) => color.match(/[\d.]+/g).map(Number);
  const channel = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = numbers(getComputedStyle(each).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const pale = [];
  for (const element of document.body.querySelectorAll("*")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join("").trim();
    if (!text) continue;
    const [front, back] = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < 4.5) pale.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)} ${text.slice(0, 30)}`);
  }
  return {
    pale,
    texts: document.body.querySelectorAll("*").length,
    background: getComputedStyle(document.body).backgroundColor,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    tags: [...new Set([...document.querySelectorAll("*")].map((element) => element.tagName.toLowerCase()))].sort(),
    attributes: [...new Set([...document.querySelectorAll("*")].flatMap((element) => element.getAttributeNames()))].sort(),
    text: document.body.innerText,
  };
}

// Runs in the page: what has the focus, and its place among all elements.
function focused() {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const place = [...document.querySelectorAll("*")].indexOf(element);
  return { tag: element.tagName, place, visible: outlineStyle !== "none" && outlineWidth !== "0px" };
}

const found = {};
for (const file of pages) {
  const name = path.basename(file);
  found[name] = { views: [], errors: [], requests: [], focus: [] };
  for (const scheme of SCHEMES) {
    for (const width of WIDTHS) {
      const context = await browser.newContext({
        colorScheme: scheme, viewport: { width, height: 900 }, javaScriptEnabled: false,
      });
      const page = await context.newPage();
      page.on("console", (message) => found[name].errors.push(message.text()));
      page.on("pageerror", (error) => found[name].errors.push(String(error)));
      page.on("dialog", (dialog) => found[name].errors.push(dialog.message()));
      page.on("request", (request) => found[name].requests.push(request.url()));
      await page.goto(pathToFileURL(file).href);
      found[name].views.push({ scheme, width, ...(await page.evaluate(measure)) });
      if (scheme === "light" && width === WIDTHS[0]) {
        const most = await page.locator("a[href], summary, [tabindex='0']").count();
        for (let number = 0; number < most; number += 1) {
          await page.keyboard.press("Tab");
          found[name].focus.push(await page.evaluate(focused));
        }
        found[name].focusable = most;
      }
      if (shots) await page.screenshot({ path: path.join(shots, `${name}.${scheme}.${width}.png`), fullPage: true });
      await context.close();
    }
  }
}
await browser.close();
console.log(JSON.stringify(found));
