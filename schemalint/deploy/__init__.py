"""Plan a deployment from contracts and live tables, and find what was applied last."""

from schemalint.deploy.deployment import (
    DeployInput,
    Deployment,
    Unplanned,
    prepare,
)

__all__ = ["DeployInput", "Deployment", "Unplanned", "prepare"]
