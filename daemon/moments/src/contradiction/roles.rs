//! What well-known software is used as. A project uses one thing of a kind, and things of several kinds beside each other.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// Kinds of software, one on each line; a name may be on several. Of a kind after `+`, a project may well have several.
const KINDS: &str = "\
+ go golang rust python java kotlin scala ruby php perl typescript javascript swift elixir clojure haskell julia dart zig ocaml erlang
react vue angular svelte solid preact ember htmx
next nextjs nuxt remix sveltekit astro gatsby
django flask fastapi rails spring express koa nestjs fastify laravel symfony axum actix rocket gin phoenix sinatra
+ postgres postgresql mysql mariadb sqlite oracle mongodb mongo cassandra dynamodb cockroachdb duckdb clickhouse redis firestore
+ redis memcached valkey
+ kafka rabbitmq nats sqs pulsar activemq redis
+ elasticsearch opensearch solr meilisearch typesense algolia
npm pnpm yarn bun
pip poetry uv pipenv conda pdm
jest vitest mocha jasmine ava
pytest unittest nose
playwright cypress selenium puppeteer
webpack vite rollup esbuild parcel turbopack
prettier biome black ruff dprint
eslint biome flake8 ruff pylint oxlint
tailwind bootstrap sass less bulma
prisma typeorm sequelize sqlalchemy drizzle diesel hibernate sqlx
jenkins circleci travis buildkite drone teamcity
+ aws gcp azure hetzner digitalocean
kubernetes nomad swarm
docker podman
+ terraform pulumi opentofu cloudformation
ansible chef puppet saltstack
tabs spaces
graphql grpc soap
protobuf msgpack cbor avro
git mercurial jujutsu jj subversion
+ vim neovim emacs vscode helix
redux zustand mobx pinia vuex
+ nginx apache caddy traefik haproxy envoy
+ prometheus datadog newrelic
sentry bugsnag rollbar
+ make just bazel cmake gradle maven";

static BY_NAME: LazyLock<FxHashMap<&str, u64>> = LazyLock::new(|| {
    let mut by_name = FxHashMap::default();
    for (kind, names) in KINDS.lines().enumerate() {
        for name in names.split_whitespace() {
            *by_name.entry(name).or_default() |= 1 << kind;
        }
    }
    by_name
});

/// Returns those of some kinds of which a project has one thing only.
pub(super) fn single(kinds_of_both: u64) -> u64 {
    kinds_of_both & !kinds("+")
}

/// Returns the kinds that a lower-case name belongs to, one bit for each; none if it is not known.
pub(super) fn kinds(name: &str) -> u64 {
    BY_NAME.get(name).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_kind_share_a_bit() {
        assert!(KINDS.lines().count() <= 64);
        assert_ne!(kinds("npm") & kinds("pnpm"), 0);
        assert_ne!(kinds("redis") & kinds("postgres"), 0);
        assert_eq!(kinds("react") & kinds("typescript"), 0);
        assert_eq!(kinds("invoices"), 0);
        assert_eq!(single(kinds("redis")), 0);
        assert_ne!(single(kinds("npm")), 0);
    }
}
