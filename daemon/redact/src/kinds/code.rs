//! Tokens of code hosts, build services and package registries.

use super::{Entropy, Kind, SecretForm, form, prefixed};

pub(super) const KINDS: &[Kind] = &[
    form(
        "github-personal-token",
        "a classic personal access token of GitHub",
        &prefixed(&["ghp_"], "ghp_[A-Za-z0-9]{36,}"),
    ),
    form(
        "github-fine-grained-token",
        "a fine-grained personal access token of GitHub",
        &prefixed(
            &["github_pat_"],
            "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59,}",
        ),
    ),
    form(
        "github-oauth-token",
        "an OAuth token of GitHub",
        &prefixed(&["gho_"], "gho_[A-Za-z0-9]{36,}"),
    ),
    form(
        "github-app-token",
        "a token of a GitHub app, for a user or an installation",
        &prefixed(&["ghu_", "ghs_"], "gh[us]_[A-Za-z0-9_.-]{35,}[A-Za-z0-9_-]"),
    ),
    form(
        "github-refresh-token",
        "a refresh token of a GitHub app",
        &prefixed(&["ghr_"], "ghr_[A-Za-z0-9]{36,}"),
    ),
    form(
        "gitlab-personal-token",
        "a personal, group or project access token of GitLab",
        &prefixed(
            &["glpat-"],
            r"glpat-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9._-]{2,}[A-Za-z0-9_-])?",
        ),
    ),
    form(
        "gitlab-deploy-token",
        "a deploy token of GitLab",
        &prefixed(&["gldt-"], "gldt-[A-Za-z0-9_-]{20,}"),
    ),
    form(
        "gitlab-runner-token",
        "a runner's token of GitLab",
        &prefixed(
            &["glrt-", "glrtr-", "gr1348941"],
            r"(?:glrtr?-|GR1348941)[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9._-]{2,}[A-Za-z0-9_-])?",
        ),
    ),
    form(
        "gitlab-trigger-token",
        "a pipeline trigger token of GitLab",
        &prefixed(&["glptt-"], "glptt-[A-Za-z0-9_-]{20,}"),
    ),
    form(
        "gitlab-feed-token",
        "a feed or incoming mail token of GitLab",
        &prefixed(&["glft-", "glimt-"], "gl(?:ft|imt)-[A-Za-z0-9_-]{20,}"),
    ),
    form(
        "gitlab-job-token",
        "a CI job token of GitLab",
        &prefixed(&["glcbt-"], "glcbt-[A-Za-z0-9_-]{20,}"),
    ),
    form(
        "gitlab-agent-token",
        "a token of GitLab's agent for Kubernetes",
        &prefixed(&["glagent-"], "glagent-[A-Za-z0-9_-]{50,}"),
    ),
    form(
        "gitlab-oauth-secret",
        "an OAuth application secret of GitLab",
        &prefixed(&["gloas-"], "gloas-[A-Za-z0-9_-]{64}"),
    ),
    form(
        "gitlab-scim-token",
        "a SCIM token of GitLab",
        &prefixed(&["glsoat-"], "glsoat-[A-Za-z0-9_-]{20,}"),
    ),
    form(
        "atlassian-token",
        "an API token of Atlassian",
        &prefixed(&["atatt3", "atctt3"], "AT(?:ATT|CTT)3[A-Za-z0-9_=-]{100,}"),
    ),
    form(
        "bitbucket-app-password",
        "an app password of Bitbucket",
        &prefixed(&["atbb"], "ATBB[A-Za-z0-9]{32}"),
    ),
    form(
        "npm-token",
        "a token of the npm registry",
        &prefixed(&["npm_"], "npm_[A-Za-z0-9]{36}"),
    ),
    form(
        "pypi-token",
        "a token of PyPI",
        &prefixed(&["pypi-age"], "pypi-AgE[A-Za-z0-9_-]{50,}"),
    ),
    form(
        "crates-io-token",
        "a token of crates.io",
        &prefixed(&["cio"], "cio[A-Za-z0-9]{32}"),
    ),
    form(
        "rubygems-key",
        "a key of RubyGems",
        &prefixed(&["rubygems_"], "rubygems_[0-9a-f]{48}"),
    ),
    form(
        "nuget-key",
        "a key of NuGet",
        &SecretForm {
            entropy: Entropy::Bits(3.0),
            ..prefixed(&["oy2"], "oy2[a-z0-9]{43}")
        },
    ),
    form(
        "clojars-token",
        "a deploy token of Clojars",
        &prefixed(&["clojars_"], "CLOJARS_[a-z0-9]{60}"),
    ),
    form(
        "docker-hub-token",
        "an access token of Docker Hub",
        &prefixed(
            &["dckr_pat_", "dckr_oat_"],
            "dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}",
        ),
    ),
    form(
        "artifactory-key",
        "an API key of Artifactory",
        &prefixed(&["akcp"], "AKCp[A-Za-z0-9]{60,}"),
    ),
    form(
        "artifactory-token",
        "a reference token of Artifactory",
        &prefixed(&["cmvmdgtu"], "cmVmdGtu[A-Za-z0-9]{56}"),
    ),
    form(
        "buildkite-token",
        "a token of Buildkite",
        &prefixed(&["bkua_"], "bkua_[0-9a-f]{40}"),
    ),
    form(
        "circleci-token",
        "a token of CircleCI",
        &prefixed(
            &["ccipat_", "cciprj_"],
            "CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}",
        ),
    ),
    form(
        "octopus-key",
        "an API key of Octopus Deploy",
        &SecretForm {
            entropy: Entropy::Bits(3.5),
            ..prefixed(&["api-"], "API-[A-Z0-9]{25,32}")
        },
    ),
    form(
        "sonarqube-token",
        "a token of SonarQube",
        &prefixed(&["sqp_", "squ_", "sqa_"], "sq[pua]_[0-9a-f]{40}"),
    ),
    form(
        "sourcegraph-token",
        "a token of Sourcegraph",
        &prefixed(&["sgp_"], "sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    ),
    form(
        "prefect-key",
        "a key of Prefect",
        &prefixed(&["pnu_", "pnb_"], "pn[ub]_[A-Za-z0-9]{36}"),
    ),
    form(
        "postman-key",
        "an API key of Postman",
        &prefixed(&["pmak-"], "PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ),
    form(
        "figma-token",
        "a token of Figma",
        &prefixed(&["figd_"], "figd_[A-Za-z0-9_-]{36,}"),
    ),
    form(
        "linear-key",
        "an API key or OAuth token of Linear",
        &prefixed(
            &["lin_api_", "lin_oauth_"],
            "lin_(?:api|oauth)_[A-Za-z0-9]{40,}",
        ),
    ),
    form(
        "notion-token",
        "a token of Notion",
        &prefixed(
            &["ntn_", "secret_"],
            "(?:ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43})",
        ),
    ),
];
