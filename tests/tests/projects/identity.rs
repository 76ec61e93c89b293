//! Identity of projects: worktrees, equal names, markers, and the ways to select a project.

use std::fs;
use std::path::Path;
use std::process::Command;

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, call, has, home, is_refusal, serve};

use super::{connect_in, folder, refused_to, summary, text, warns, write};

/// Runs git without the machine's own settings.
fn git(dir: &str, arguments: &[&str]) {
    let output = Command::new("git")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
        .args(["-c", "init.defaultBranch=main", "-C", dir])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn listed(daemon: &Daemon) -> Vec<Value> {
    let list = daemon.call("list_projects", json!({}));
    list["projects"].as_array().unwrap().clone()
}

/// Every worktree of a repository is the same project, from any folder in it. All are listed with their checked-out
/// branches, also after a switch.
#[test]
fn worktrees_are_one_project() {
    let (home, daemon) = serve!();
    let main = folder(&home, "My Shop");
    let deep = folder(&home, "My Shop/src/deep");
    git(&main, &["init", "-q"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let other = format!("{}/fix", folder(&home, "elsewhere"));
    git(&main, &["worktree", "add", "-q", "-b", "fix/tax", &other]);

    let mut ada = connect_in(&daemon, "ada", &deep);
    let mut bob = connect_in(&daemon, "bob", &other);
    let args = |content: &str| json!({"project_id": "current", "file_type": "session_summary", "content": content});
    let first = call(&mut ada, "update_context", args(&summary(&["a"]))).unwrap();
    let project = text(&first["project"]);
    assert!(
        project.starts_with("my-shop-") && project.len() == "my-shop-".len() + 8,
        "{project}"
    );
    let second = call(&mut bob, "update_context", args(&summary(&["a", "b"]))).unwrap();
    has(&second, json!({"project": first["project"], "version": 2}));
    let reply = daemon.call("init_project", json!({"path": other}));
    assert_eq!(reply["project"], first["project"]);
    assert_eq!(reply["created"], false);
    has(&reply, json!({"path": main, "worktree": other}));
    has(&reply, json!({"branch": "fix/tax", "name": "My Shop"}));

    let worktrees = || {
        let [project] = &listed(&daemon)[..] else {
            panic!("one project")
        };
        assert_eq!(project["path"], main);
        let worktrees = project["worktrees"].as_array().unwrap().iter();
        worktrees
            .map(|one| {
                (
                    text(&one["path"]).to_owned(),
                    text(&one["branch"]).to_owned(),
                )
            })
            .collect::<Vec<_>>()
    };
    let pair = |path: &str, branch: &str| (path.to_owned(), branch.to_owned());
    assert_eq!(worktrees(), [pair(&main, "main"), pair(&other, "fix/tax")]);
    git(&main, &["checkout", "-q", "-b", "next"]);
    call(&mut ada, "update_context", args(&summary(&["c"]))).unwrap();
    assert_eq!(worktrees(), [pair(&main, "next"), pair(&other, "fix/tax")]);
    daemon.verify();
}

/// Directories with equal names are two projects, and so are two clones; a link leads to the same project.
#[test]
fn namesakes_are_two_projects() {
    let (home, daemon) = serve!();
    let (one, two) = (folder(&home, "a/shop"), folder(&home, "b/shop"));
    git(&two, &["init", "-q"]);
    let init = |path: &str| daemon.call("init_project", json!({"path": path}));
    let (first, second) = (init(&one), init(&two));
    assert_ne!(first["project"], second["project"]);
    for reply in [&first, &second] {
        has(reply, json!({"name": "shop", "created": true}));
    }
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&one, &link).unwrap();
    let same = init(link.to_str().unwrap());
    assert_eq!(same["project"], first["project"]);
    assert_eq!(same["created"], false);
    write(&daemon, &one, "session_summary", &summary(&["of one"]));
    let there = daemon.call("list_contexts", json!({"project_id": first["project"]}));
    let here = daemon.call("list_contexts", json!({"project_id": second["project"]}));
    let written = |list: &Value| {
        let files = list["contexts"].as_array().unwrap().iter();
        files.filter(|file| file["written"] == true).count()
    };
    assert_eq!((written(&there), written(&here)), (1, 0));
    assert_eq!(listed(&daemon).len(), 2);
}

/// A marker in the root sets id, name and the folder of templates. A broken marker is reported with its file in
/// every reply about the project, and otherwise ignored.
#[test]
fn a_marker_names_the_project() {
    let (home, daemon) = serve!();
    let root = folder(&home, "shop");
    let below = folder(&home, "shop/src");
    let marker = Path::new(&root).join(".lore.toml");
    fs::write(
        &marker,
        "id = \"the-shop\"\nname = \"The Shop\"\ntemplates = \"docs/forms\"\n",
    )
    .unwrap();
    let forms = folder(&home, "shop/docs/forms");
    let form = super::templates::NOTES.replace("name = \"notes\"", "name = \"forms\"");
    fs::write(Path::new(&forms).join("forms.toml"), form).unwrap();
    let reply = daemon.call("init_project", json!({"path": below}));
    has(&reply, json!({"project": "the-shop", "name": "The Shop"}));
    assert_eq!(reply["path"], json!(root));
    assert_eq!(reply.get("warnings"), None);
    let templates = daemon.call("list_templates", json!({"project_id": "the-shop"}));
    let names: Vec<&str> = templates["templates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| text(&one["file_type"]))
        .collect();
    assert_eq!(
        names,
        [
            "bugs",
            "features",
            "forms",
            "mental_model",
            "session_summary"
        ]
    );

    for (broken, word) in [
        ("id = \"../up\"\n", "../up"),
        ("id = \n", "line 1"),
        ("idd = \"x\"", "idd"),
    ] {
        fs::write(&marker, broken).unwrap();
        let reply = daemon.call("init_project", json!({"path": root}));
        assert_ne!(reply["project"], "the-shop");
        assert!(text(&reply["project"]).starts_with("shop-"), "{reply}");
        assert!(
            warns(&reply, ".lore.toml") && warns(&reply, word),
            "{reply:#}"
        );
        let args = json!({"project_id": root, "file_type": "bugs"});
        assert!(warns(&daemon.call("get_context", args), word));
    }
    // A known project stays available by its id.
    let found = daemon.call("list_contexts", json!({"project_id": "the-shop"}));
    assert_eq!(found["project"], "the-shop");
}

/// Settings for a directory in the config override its marker.
#[test]
fn the_config_names_the_project() {
    let home = home!();
    let root = folder(&home, "shop");
    fs::write(
        Path::new(&root).join(".lore.toml"),
        "id = \"the-shop\"\nname = \"Shop\"\n",
    )
    .unwrap();
    home.configure(&format!("[projects.at.{root:?}]\nid = \"store\"\n"));
    let daemon = home.start();
    let reply = daemon.call("init_project", json!({"path": root}));
    has(&reply, json!({"project": "store", "name": "Shop"}));
    let reply = daemon.call("init_project", json!({"path": root, "name": "Other"}));
    has(&reply, json!({"name": "Other", "created": false}));
    assert_eq!(listed(&daemon)[0]["name"], "Other");
}

/// Markers are untrusted: a marker does not take over the id of another folder's project, unless the config says
/// the same, or that folder is no longer that project.
#[test]
fn the_id_of_another_folder_has_to_be_confirmed() {
    let home = home!();
    let (first, copy) = (folder(&home, "shop"), folder(&home, "copies/shop"));
    for root in [&first, &copy] {
        fs::write(Path::new(root).join(".lore.toml"), "id = \"the-shop\"\n").unwrap();
    }
    let daemon = home.start();
    let init = |daemon: &Daemon, root: &str| daemon.call("init_project", json!({"path": root}));
    assert_eq!(init(&daemon, &first)["project"], "the-shop");
    let bugs = json!({"project_id": "the-shop", "file_type": "session_summary", "content": summary(&["a"])});
    daemon.call("update_context", bugs);

    let reply = init(&daemon, &copy);
    assert!(text(&reply["project"]).starts_with("shop-"), "{reply}");
    assert!(
        warns(&reply, &first) && warns(&reply, "[projects.at."),
        "{reply:#}"
    );
    let mut inside = connect_in(&daemon, "ada", &copy);
    let current = json!({"project_id": "current", "file_type": "session_summary"});
    let read = call(&mut inside, "get_context", current.clone()).unwrap();
    assert_eq!(read["version"], 0, "{read}");
    daemon.stop();

    home.configure(&format!("[projects.at.{copy:?}]\nid = \"the-shop\"\n"));
    let daemon = home.start();
    assert_eq!(init(&daemon, &copy)["project"], "the-shop");
    daemon.stop();

    // The config is empty again, and the folder has moved meanwhile.
    home.configure("");
    fs::remove_dir_all(&copy).unwrap();
    let daemon = home.start();
    assert_eq!(init(&daemon, &first)["project"], "the-shop");
    let moved = format!("{}/shop", folder(&home, "moved"));
    fs::rename(&first, &moved).unwrap();
    assert_eq!(init(&daemon, &moved)["project"], "the-shop");
    let mut inside = connect_in(&daemon, "ada", &moved);
    let read = call(&mut inside, "get_context", current).unwrap();
    assert_eq!(read["version"], 1, "{read}");
}

/// `current` needs a directory, unknown ids and paths are reported with the known projects, and an invalid id with
/// the required format.
#[test]
fn what_is_no_project_is_told_with_those_that_are() {
    let (home, daemon) = serve!();
    let get = |id: &str| json!({"project_id": id, "file_type": "bugs"});
    let refused = daemon.refusal("get_context", get("current"));
    is_refusal(
        &refused,
        Code::ProjectNotFound,
        &["working directory", "No project exists", "init_project"],
    );
    let dir = folder(&home, "shop");
    let reply = daemon.call("init_project", json!({"path": dir}));
    let project = text(&reply["project"]);
    let missing = format!("{dir}/missing");
    for (id, word) in [
        ("current", "working directory"),
        ("shop-00000000", "`shop-00000000`"),
        (&missing, "not found"),
    ] {
        for name in [
            "get_context",
            "list_contexts",
            "context_history",
            "diff_context",
            "clear_context",
        ] {
            let mut args = get(id);
            if name == "list_contexts" {
                args = json!({"project_id": id});
            }
            let refused = daemon.refusal(name, args);
            is_refusal(&refused, Code::ProjectNotFound, &[word, project, &dir]);
        }
    }
    for id in [
        "",
        "../etc",
        "Shop",
        "a/b",
        "a b",
        "-x",
        "src/shop",
        &"x".repeat(65),
        "x\u{202e}",
    ] {
        let refused = daemon.refusal("get_context", get(id));
        is_refusal(
            &refused,
            Code::InvalidInput,
            &["`project_id`", "absolute path", "`current`"],
        );
    }
    for path in ["", "src", &missing, "/etc/\0"] {
        let refused = daemon.refusal("init_project", json!({"path": path}));
        is_refusal(&refused, Code::InvalidInput, &["path"]);
    }
    // A file in the project selects it as well; and so does the caller's working directory.
    fs::write(Path::new(&dir).join("README.md"), "# Shop\n").unwrap();
    let reply = daemon.call("get_context", get(&format!("{dir}/README.md")));
    assert_eq!(reply["project"], project);
    let mut inside = connect_in(&daemon, "ada", &dir);
    let list = call(&mut inside, "list_projects", json!({})).unwrap();
    assert_eq!(list["current"], project);
    let relative = call(&mut inside, "init_project", json!({"path": "."})).unwrap();
    assert_eq!(relative["project"], project);
    let gone = connect_in(&daemon, "bob", &missing);
    let refused = refused_to(&mut { gone }, "get_context", get("current"));
    is_refusal(&refused, Code::ProjectNotFound, &[project]);
}

/// What is recorded in a plain folder is seen from its subfolders, and what is recorded there from the folder, unless a
/// subfolder had sessions before.
#[test]
fn messages_of_a_plain_folder() {
    let (home, daemon) = serve!();
    let (root, below) = (folder(&home, "notes"), folder(&home, "notes/src/deep"));
    let alone = folder(&home, "notes/alone");
    let say = |dir: &str, text: &str| {
        let args = json!({"sender": "user", "content": text});
        call(&mut connect_in(&daemon, "ada", dir), "record_message", args).unwrap()
    };
    let heard = |dir: &str| {
        let list = call(
            &mut connect_in(&daemon, "bob", dir),
            "list_messages",
            json!({}),
        );
        let list = list.unwrap();
        let messages = list["messages"].as_array().unwrap().iter();
        let messages: Vec<String> = messages
            .map(|message| text(&message["content"]).to_owned())
            .collect();
        messages
    };
    say(&alone, "alone");
    say(&root, "of the root");
    assert_eq!(heard(&below), ["of the root"]);
    say(&below, "from below");
    for dir in [&root, &below, &folder(&home, "notes/src")] {
        assert_eq!(heard(dir), ["of the root", "from below"], "{dir}");
    }
    assert_eq!(heard(&alone), ["alone"]);
    let elsewhere = folder(&home, "others");
    let refused = refused_to(
        &mut connect_in(&daemon, "bob", &elsewhere),
        "list_messages",
        json!({}),
    );
    is_refusal(
        &refused,
        Code::SessionNotFound,
        &["no session of this project"],
    );
}

/// A folder without a repository belongs to the parent that has context files, unless it is made a project itself.
/// A marker begins a project, also within a repository.
#[test]
fn a_subfolder_belongs_to_its_parent() {
    let (home, daemon) = serve!();
    let (root, below) = (folder(&home, "notes"), folder(&home, "notes/src/deep"));
    let current = json!({"project_id": "current", "file_type": "session_summary"});
    let before = call(
        &mut connect_in(&daemon, "ada", &below),
        "get_context",
        current.clone(),
    );
    assert_eq!(before.unwrap()["version"], 0);
    write(
        &daemon,
        &root,
        "session_summary",
        &summary(&["of the root"]),
    );
    let read = |dir: &str| {
        call(
            &mut connect_in(&daemon, "ada", dir),
            "get_context",
            current.clone(),
        )
        .unwrap()
    };
    let there = read(&root);
    for dir in [&below, &folder(&home, "notes/src")] {
        has(
            &read(dir),
            json!({"project": there["project"], "version": 1}),
        );
    }
    assert_ne!(read(&folder(&home, "others"))["project"], there["project"]);
    let made = daemon.call("init_project", json!({"path": below}));
    assert_eq!(made["created"], true);
    has(
        &read(&below),
        json!({"project": made["project"], "version": 0}),
    );

    let repository = folder(&home, "mono");
    git(&repository, &["init", "-q"]);
    let package = folder(&home, "mono/packages/shop");
    fs::write(Path::new(&package).join(".lore.toml"), "name = \"Shop\"\n").unwrap();
    let deep = folder(&home, "mono/packages/shop/src");
    let (whole, part) = (read(&repository), read(&deep));
    assert_ne!(whole["project"], part["project"]);
    assert!(text(&part["project"]).starts_with("shop-"), "{part}");
    assert_eq!(
        read(&folder(&home, "mono/packages/other"))["project"],
        whole["project"]
    );
}

/// Folders that hold everything identify no project: the call is refused with the projects there are.
#[test]
fn the_root_is_no_project() {
    let (home, daemon) = serve!();
    let root = folder(&home, "shop");
    write(&daemon, &root, "session_summary", &summary(&["a"]));
    let project = text(&listed(&daemon)[0]["project"]).to_owned();
    for dir in ["/", "/usr/share", "/tmp", "/home", "/etc"] {
        let mut inside = connect_in(&daemon, "ada", dir);
        for (name, more) in [
            ("get_context", json!({})),
            ("update_context", json!({"content": summary(&["b"])})),
            (
                "append_context",
                json!({"entry": "## 2025-03-01\n\n### Added\n\n- x\n"}),
            ),
        ] {
            let mut args = json!({"project_id": "current", "file_type": "session_summary"});
            args.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            let refused = refused_to(&mut inside, name, args.clone());
            is_refusal(
                &refused,
                Code::ProjectNotFound,
                &["does not identify", &project, &root],
            );
            args["project_id"] = json!(fs::canonicalize(dir).unwrap());
            let refused = refused_to(&mut inside, name, args);
            is_refusal(
                &refused,
                Code::ProjectNotFound,
                &["does not identify", &project],
            );
        }
        let refused = refused_to(&mut inside, "init_project", json!({"path": dir}));
        is_refusal(
            &refused,
            Code::InvalidInput,
            &["does not identify", ".lore.toml"],
        );
    }
    assert_eq!(listed(&daemon).len(), 1, "nothing was written");
}

/// The copy of a repository that moved unseen is another project, whichever of the two is seen first.
#[test]
fn a_copy_of_a_moved_repository_is_another_project() {
    let (home, daemon) = serve!();
    let current = json!({"project_id": "current", "file_type": "session_summary"});
    let read = |dir: &str| {
        let mut inside = connect_in(&daemon, "ada", dir);
        call(&mut inside, "get_context", current.clone()).unwrap()["project"].clone()
    };
    for (name, copy_first) in [("one", true), ("two", false)] {
        let first = folder(&home, name);
        git(&first, &["init", "-q"]);
        git(&first, &["commit", "-q", "--allow-empty", "-m", "first"]);
        write(&daemon, &first, "session_summary", &summary(&[name]));
        let project = read(&first);
        let (moved, copy) = (format!("{first}-2"), format!("{first}-2-copy"));
        fs::rename(&first, &moved).unwrap();
        let copied = Command::new("cp").args(["-r", &moved, &copy]).status();
        assert!(copied.unwrap().success());
        if copy_first {
            assert_ne!(read(&copy), project);
        }
        assert_eq!(read(&moved), project);
        assert_ne!(read(&copy), project);
    }
}

/// A repository keeps its context files when it moves, with or without commits; a copy and a new repository in its
/// old place are other projects.
#[test]
fn a_repository_is_recognised_where_it_is() {
    let (home, daemon) = serve!();
    let current = json!({"project_id": "current", "file_type": "session_summary"});
    for (name, has_commits) in [("bare", false), ("shop", true)] {
        let first = folder(&home, name);
        git(&first, &["init", "-q"]);
        if has_commits {
            git(&first, &["commit", "-q", "--allow-empty", "-m", "first"]);
        }
        write(&daemon, &first, "session_summary", &summary(&[name]));
        let read = |dir: &str| {
            call(
                &mut connect_in(&daemon, "ada", dir),
                "get_context",
                current.clone(),
            )
            .unwrap()
        };
        let project = read(&first)["project"].clone();
        let copy = format!("{}/{name}", folder(&home, "copies"));
        let copied = Command::new("cp")
            .args(["-a", &first, &copy])
            .status()
            .unwrap();
        assert!(copied.success());
        assert_ne!(read(&copy)["project"], project, "a copy");

        let moved = format!("{}/{name}-2", folder(&home, "moved"));
        fs::rename(&first, &moved).unwrap();
        has(&read(&moved), json!({"project": project, "version": 1}));
        let by_id = json!({"project_id": project, "file_type": "session_summary"});
        assert_eq!(daemon.call("get_context", by_id)["version"], 1);
        let mut inside = connect_in(&daemon, "ada", &moved);
        let mut args = current.clone();
        args["content"] = summary(&[name, "moved"]).into();
        let reply = call(&mut inside, "update_context", args).unwrap();
        has(&reply, json!({"project": project, "version": 2}));
        let found = listed(&daemon);
        let found = found.iter().find(|one| one["project"] == project).unwrap();
        assert_eq!(found["path"], json!(moved));

        let copy = format!("{}/{name}-copy", folder(&home, "moved"));
        let copied = Command::new("cp").args(["-r", &moved, &copy]).status();
        assert!(copied.unwrap().success());
        assert_ne!(read(&copy)["project"], project, "a copy of the moved one");

        let again = folder(&home, name);
        git(&again, &["init", "-q"]);
        let other = read(&again);
        assert_ne!(
            other["project"], project,
            "another repository in the old place"
        );
        assert_eq!(other["version"], 0);
        assert_eq!(read(&moved)["project"], project);
    }
    daemon.verify();
}
