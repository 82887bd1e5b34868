"""The steps of the GitHub Action (``action.yml``), apart from the installation.

``action/run.sh`` starts ``python -I -m schemalint.cli.action STEP FOLDER``. The step ``check`` runs the
command line, and composes the job's summary and the comment; it has no token. The step ``comment`` has the
token, and reads nothing of a stranger but the comments of the pull request.
"""
