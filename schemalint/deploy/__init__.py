"""Contracts and live tables -> what is to be done, and what was done last."""

from schemalint.deploy.deployment import (
    DeployInput,
    Deployment,
    Unplanned,
    prepare,
)

__all__ = ["DeployInput", "Deployment", "Unplanned", "prepare"]
