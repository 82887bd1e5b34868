"""`init`: everything that protects the tables of a repository which has nothing of schemalint yet."""

from schemalint.author.adopt.adoption import Adoption, AdoptionInput, adopt

__all__ = ["Adoption", "AdoptionInput", "adopt"]
