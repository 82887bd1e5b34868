"""Plan a deployment from contracts and live tables, and find what was applied last."""

from schemalint.deploy.deployment import prepare
from schemalint.deploy.request import DeployInput, Deployment, TargetAccess, Unplanned

__all__ = ["DeployInput", "Deployment", "TargetAccess", "Unplanned", "prepare"]
