//! Tests of several users' memories in one daemon.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod capture;
mod capture_brief;
mod capture_hosts;
mod capture_prompts;
mod capture_rules;
mod capture_trust;
mod captured_results;
mod coordination;
mod expiry;
mod facts;
mod given_texts;
mod kept_contexts;
mod memory_tool;
mod own_sessions;
mod protected_keys;
mod recent_texts;
mod remember;
mod transcript_databases;
mod transcripts;
mod undo;

use std::path::Path;

use lore::protocol::Args;
use serde_json::{Value, json};

use super::*;
use crate::api::TABLE;
use crate::forgetting::Rules;
use crate::operation::Caller;
use crate::sessions;

const ADA: u32 = 61_001;
const DAY_MICROS: u64 = 24 * 3600 * 1_000_000;

/// Returns paths that are all below one folder.
pub(crate) fn paths(folder: &Path) -> Paths {
    Paths {
        config: folder.join("lored.toml"),
        data: folder.join("data"),
        state: folder.join("state"),
        socket: folder.join("run/own.sock"),
    }
}

fn shared(folder: &Path, clock: Arc<Clock>) -> Shared {
    let (config, paths) = (Config::new(), paths(folder));
    ensure_folder(&paths.data).unwrap();
    let models = ModelPlaces::of_this_program(&config.search, folder.join("models"));
    Shared {
        lives: ReloadableSettings::new(&config),
        models: Arc::new(ModelPool::find(&models, &config.search)),
        paths,
        started: clock.now(),
        clock,
        page: PageServer::new().1,
        prepared: PrivilegedInit::default(),
        reaches_files: false,
        config,
    }
}

fn tenants(folder: &Path) -> Arc<Tenants> {
    Tenants::new(Arc::new(shared(folder, Arc::new(Clock::System))))
}

async fn call(cx: &Arc<Context>, name: &str, args: Value) {
    let args = Args::Json(args.to_string().into_bytes());
    let operation = TABLE.get(name).unwrap();
    let answer = operation.call(Arc::clone(cx), Caller::default(), args);
    answer.await.unwrap();
}

/// Retention rules also apply to users who never connect again; users without due data keep everything.
#[tokio::test]
async fn rules_hold_for_users_who_do_not_come() {
    let folder = tempfile::tempdir().unwrap();
    let tenants = tenants(folder.path());
    let tenant_handle = tenants.of(ADA).await.unwrap();
    for session in ["closed", "open"] {
        let cx = tenant_handle.dispatch.context();
        call(cx, "create_session", json!({"session": session})).await;
    }
    let closed = json!({"session": "closed"});
    call(tenant_handle.dispatch.context(), "close_session", closed).await;
    drop(tenant_handle);
    tenants.close_idle(true).await;
    tenants.shared().lives.retention.set(Rules {
        closed_sessions_days: 30,
        ..Rules::default()
    });
    let now = Clock::System.now();
    for (days, left) in [(29, vec!["closed", "open"]), (31, vec!["open"])] {
        offline_tenants::round(&tenants, now + days * DAY_MICROS)
            .await
            .unwrap();
        assert!(!tenants.is_open(ADA), "it is closed again");
        let tenant_handle = tenants.of(ADA).await.unwrap();
        let published = tenant_handle.dispatch.context().engine.published().unwrap();
        assert_eq!(sessions::ids(&published.snapshot, 100).unwrap(), left);
        drop((published, tenant_handle));
        tenants.close_idle(true).await;
    }
    assert_eq!(tenants.known().unwrap(), [ADA]);
}

/// While an abandoned call works on a memory, its user finds it open.
#[tokio::test]
async fn what_is_worked_on_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let tenants = tenants(folder.path());
    let working = Arc::clone(tenants.of(ADA).await.unwrap().dispatch.context());
    tenants.close_unused(ADA).await;
    let again = tenants.of(ADA).await.unwrap();
    assert!(Arc::ptr_eq(again.dispatch.context(), &working));
    call(again.dispatch.context(), "create_session", json!({})).await;
    drop((working, again));
    tenants.close_unused(ADA).await;
    assert!(!tenants.is_open(ADA));
}
