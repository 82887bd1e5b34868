"""Where a change comes from, by the variables of each CI service; an unknown origin is a foreign one."""

from __future__ import annotations

import pytest

from schemalint.project.git import foreign_head

GITLAB = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_PROJECT_ID": "1"}
AZURE = {"TF_BUILD": "True", "BUILD_REASON": "PullRequest", "SYSTEM_PULLREQUEST_PULLREQUESTID": "7"}


@pytest.mark.parametrize(
    ("env", "foreign"),
    [
        ({}, None),
        ({"CI": "true"}, "no variable"),
        ({**GITLAB, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1"}, None),
        ({**GITLAB, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2"}, "a fork"),
        (GITLAB, "no variable"),
        ({"GITLAB_CI": "true", "CI_COMMIT_BEFORE_SHA": "0" * 40}, None),
        ({**AZURE, "SYSTEM_PULLREQUEST_ISFORK": "False"}, None),
        ({**AZURE, "SYSTEM_PULLREQUEST_ISFORK": "True"}, "a fork"),
        (AZURE, "no variable"),
        ({"TF_BUILD": "True", "BUILD_REASON": "IndividualCI"}, None),
        ({"BITBUCKET_BUILD_NUMBER": "1"}, None),
        ({"BITBUCKET_BUILD_NUMBER": "1", "BITBUCKET_PR_ID": "7"}, "no variable"),
        ({"BUILDKITE": "true", "BUILDKITE_PULL_REQUEST": "false"}, None),
        ({"BUILDKITE": "true", "BUILDKITE_PULL_REQUEST": "7"}, "no variable"),
        ({"JENKINS_URL": "http://jenkins", "CHANGE_ID": "7"}, "no variable"),
        ({"GITHUB_EVENT_NAME": "push"}, None),
        ({"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": "/nowhere"}, "no variable"),
    ],
)
def test_a_change_is_foreign_unless_the_service_says_otherwise(
    env: dict[str, str], foreign: str | None
) -> None:
    found = foreign_head(env)
    assert (found is None) == (foreign is None)
    assert foreign is None or foreign in str(found)
