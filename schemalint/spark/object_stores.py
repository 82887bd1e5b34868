"""The packages and settings with which a session that schemalint starts reaches the target's object store."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from schemalint.base.errors import UsageError
from schemalint.base.values import field, frozen, replace
from schemalint.delta.log_store import S3_SCHEMES
from schemalint.project.config.trust import TrustedSpark, TrustedTarget
from schemalint.spark.hadoop_settings import store_conf

_JAR_KEYS: Final = ("spark.jars", "spark.driver.extraClassPath")
_EXCLUDES: Final = "spark.jars.excludes"

# Hadoop's modules for stores, by scheme. Spark's own jars have none of them.
_MODULES: Final[Mapping[str, str]] = {
    **dict.fromkeys(S3_SCHEMES, "hadoop-aws"),
    "gs": "hadoop-gcp",
    "abfs": "hadoop-azure",
    "abfss": "hadoop-azure",
}

# The version of Amazon's SDK in Hadoop's POM. hadoop-aws depends on all of it, one jar of 690 MB; S3A
# needs 17 MB (measured with Hadoop 3.5.0: tables are created, read, written and altered).
_SDK: Final[Mapping[str, str]] = {"3.5.0": "2.35.4"}
_SDK_GROUP: Final = "software.amazon.awssdk"
_SDK_PARTS: Final = ("s3-transfer-manager", "sts")


@frozen
class Packages:
    """Packages for a session, as Spark resolves them.

    Attributes:
        names: Their coordinates, ``group:artifact:version``.
        conf: Settings that they need.
    """

    names: tuple[str, ...] = ()
    conf: Mapping[str, str] = field(default_factory=dict)


def schemes_of(target: TrustedTarget) -> list[str]:
    """Return the schemes of the target's root and its other locations that need a module of Hadoop's."""
    places = (target.root or "", *target.allowed_locations)
    schemes = {place.partition("://")[0].lower() for place in places if "://" in place}
    return sorted(schemes & set(_MODULES))


def missing_packages(settings: TrustedSpark, schemes: Iterable[str]) -> Packages:
    """Return the packages for schemes that neither the settings nor Spark's own jars contain.

    Raises:
        UsageError: Spark is not installed, or its Hadoop has no such package.
    """
    jars = _jars()
    given = " ".join(
        (
            *settings.packages,
            *(value for key, value in settings.conf.items() if key.startswith(_JAR_KEYS)),
            *jars,
        )
    )
    modules = sorted({_MODULES[scheme] for scheme in schemes})
    needed = [module for module in modules if module not in given]
    if not needed:
        return Packages()
    hadoop = _hadoop(jars)
    names = [f"org.apache.hadoop:{module}:{hadoop}" for module in needed]
    sdk = _SDK.get(hadoop)
    if "hadoop-aws" not in needed or sdk is None:
        return Packages(tuple(names))
    excludes = [*filter(None, [settings.conf.get(_EXCLUDES)]), f"{_SDK_GROUP}:bundle"]
    names += (f"{_SDK_GROUP}:{part}:{sdk}" for part in _SDK_PARTS)
    return Packages(tuple(names), {_EXCLUDES: ",".join(excludes)})


def with_packages(settings: TrustedSpark, packages: Packages) -> TrustedSpark:
    """Return the settings with packages added."""
    return replace(
        settings,
        packages=(*settings.packages, *packages.names),
        conf={**settings.conf, **packages.conf},
    )


def with_store_of(settings: TrustedSpark, target: TrustedTarget) -> TrustedSpark:
    """Return the settings of a local session with those of the target's stores; the user's own win."""
    conf = store_conf(target, schemes_of(target)).conf
    return replace(settings, conf={**conf, **settings.conf})


def left_out(settings: TrustedSpark, target: TrustedTarget) -> Iterator[str]:
    """Yield what a session does not get of the settings of the target's stores, and what to set instead."""
    for prefix, names in store_conf(target, schemes_of(target)).left_out.items():
        if not any(key.startswith(prefix) for key in settings.conf):
            yield f"{', '.join(names)}: set {prefix}* under [spark.conf]"


def _jars() -> list[str]:
    """Return the names of Spark's jars, without starting it.

    Raises:
        UsageError: Spark is not installed.
    """
    folders: list[str] = []
    if home := os.environ.get("SPARK_HOME"):
        folders = [home]
    elif spec := importlib.util.find_spec("pyspark"):
        folders = list(spec.submodule_search_locations or ())
    names = [jar.name for folder in folders for jar in Path(folder, "jars").glob("*.jar")]
    if not names:
        raise UsageError("Spark is not installed here", help="pip install 'schemalint[spark]'")
    return names


def _hadoop(jars: Iterable[str]) -> str:
    """Return the version of Hadoop that Spark has.

    Raises:
        UsageError: Spark has no Hadoop.
    """
    for jar in jars:
        if match := re.fullmatch(r"hadoop-client-api-(\d[\w.]*)\.jar", jar):
            return match[1]
    raise UsageError("this Spark has no Hadoop, so that no package for a store fits it")
