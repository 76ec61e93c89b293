//! A daemon's file calls, as recorded by tests/faults/record.c.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Name, Node, ROOT, Tree};
use crate::{Home, disk};

/// Records the file calls of a home's daemons.
#[derive(Debug)]
pub struct Recorder {
    home: PathBuf,
    log: PathBuf,
}

/// All recorded changes, in order.
#[derive(Debug)]
pub struct Recording {
    /// Changes, and the acknowledgements between them.
    pub changes: Vec<Change>,
}

/// A change of a file or a name, or an acknowledgement to a client.
#[derive(Clone, Debug)]
pub enum Change {
    /// A file or folder was created.
    Made {
        /// Its name.
        at: Name,
        /// The file or folder.
        node: Node,
        /// Whether it is a folder.
        is_folder: bool,
    },
    /// Bytes were written.
    Written {
        /// The file.
        node: Node,
        /// Offset in bytes.
        at: u64,
        /// The written bytes.
        bytes: Arc<[u8]>,
    },
    /// The length of a file was changed.
    Resized {
        /// The file.
        node: Node,
        /// New length in bytes.
        length: u64,
    },
    /// A file was synced.
    Synced {
        /// The file.
        node: Node,
    },
    /// A folder was synced.
    FolderSynced {
        /// The folder.
        node: Node,
    },
    /// A file was renamed; a file that had the new name loses it.
    Renamed {
        /// Old name.
        from: Name,
        /// New name.
        to: Name,
        /// The renamed file or folder.
        node: Node,
    },
    /// A file got an additional name.
    Linked {
        /// The additional name.
        at: Name,
        /// The file.
        node: Node,
    },
    /// A name was removed.
    Removed {
        /// The removed name.
        at: Name,
    },
    /// A client received an acknowledgement.
    Acknowledged {
        /// Key of the call.
        key: String,
    },
}

impl Recorder {
    /// Records all daemons that start in this home from now on. The first one makes the folders.
    pub fn of(home: &mut Home, libraries: &Path) -> Self {
        let library = disk::between_calls("record", libraries);
        let log = home.path().join("record");
        std::fs::write(&log, "").expect("an empty file");
        let text = |path: &Path| path.to_str().expect("a path of UTF-8").to_owned();
        home.set("LD_PRELOAD", &text(&library));
        home.set("LORE_RECORD_UNDER", &text(home.path()));
        home.set("LORE_RECORD_TO", &text(&log));
        Self {
            home: home.path().to_path_buf(),
            log,
        }
    }

    /// Records that a client received an acknowledgement for a key.
    pub fn acknowledge(&self, key: &str) {
        let head = RecordHeader {
            kind: ACKNOWLEDGED,
            name_length: key.len(),
            ..RecordHeader::default()
        };
        let record = [&head.bytes()[..], key.as_bytes()].concat();
        let log = OpenOptions::new().append(true).open(&self.log);
        let written = log.and_then(|mut log| log.write(&record));
        assert_eq!(written.expect("a log"), record.len(), "in one piece");
    }

    /// Parses the recording of daemons that have ended.
    pub fn recording(&self) -> Recording {
        let log = std::fs::read(&self.log).expect("a log");
        let root = std::fs::metadata(&self.home).expect("a folder").ino();
        let mut reading = RecordingReader::new(root);
        let mut rest = log.as_slice();
        while let Some((head, behind)) = rest.split_first_chunk() {
            let head = RecordHeader::of(head);
            let (name, behind) = behind.split_at(head.name_length);
            let (bytes, behind) = behind.split_at(head.length);
            let name = String::from_utf8(name.to_vec()).expect("a name of UTF-8");
            reading.take(&head, name, bytes);
            rest = behind;
        }
        reading.find_unseen_below(ROOT, &self.home);
        Recording {
            changes: reading.changes,
        }
    }
}

/// The folders of a home that must survive; the others are the socket's and the test's.
pub const FOLDERS: [&str; 2] = ["data", "state"];

// The kinds of records, as in tests/faults/record.c.
const FILE_MADE: u32 = 1;
const FOLDER_MADE: u32 = 2;
const WRITTEN: u32 = 3;
const RESIZED: u32 = 4;
const SYNCED: u32 = 5;
const FOLDER_SYNCED: u32 = 6;
const RENAMED: u32 = 7;
const LINKED: u32 = 8;
const REMOVED: u32 = 9;
const ACKNOWLEDGED: u32 = 10;

const HEAD_BYTES: usize = 48;

/// The header of each record.
#[derive(Debug, Default)]
struct RecordHeader {
    kind: u32,
    name_length: usize,
    node: u64,
    folder: u64,
    into: u64,
    at: u64,
    length: usize,
}

impl RecordHeader {
    fn of(bytes: &[u8; HEAD_BYTES]) -> Self {
        let number = |at: usize| {
            let part = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
            u64::from_ne_bytes(*part.expect("within the head"))
        };
        let two = number(0).to_ne_bytes();
        let [a, b, c, d, e, f, g, h] = two;
        Self {
            kind: u32::from_ne_bytes([a, b, c, d]),
            name_length: u32::from_ne_bytes([e, f, g, h]) as usize,
            node: number(8),
            folder: number(16),
            into: number(24),
            at: number(32),
            length: number(40) as usize,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let numbers = [
            self.node,
            self.folder,
            self.into,
            self.at,
            self.length as u64,
        ];
        let mut bytes = self.kind.to_ne_bytes().to_vec();
        bytes.extend((self.name_length as u32).to_ne_bytes());
        bytes.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
        bytes
    }
}

/// State of the parser: inode numbers are reused, nodes are not.
struct RecordingReader {
    changes: Vec<Change>,
    /// Number of files and folders created so far.
    made: usize,
    /// Current node of each inode number.
    nodes: BTreeMap<u64, Node>,
    /// All current names.
    tree: Tree,
}

impl RecordingReader {
    fn new(root: u64) -> Self {
        Self {
            changes: Vec::new(),
            made: 0,
            nodes: BTreeMap::from([(root, ROOT)]),
            tree: Tree::new(),
        }
    }

    fn take(&mut self, head: &RecordHeader, name: String, bytes: &[u8]) {
        let change = match head.kind {
            FILE_MADE | FOLDER_MADE => {
                let at = (self.node(head.folder), name);
                self.made += 1;
                let node = ROOT + self.made;
                self.nodes.insert(head.node, node);
                self.put(&at, node);
                Change::Made {
                    at,
                    node,
                    is_folder: head.kind == FOLDER_MADE,
                }
            }
            WRITTEN => Change::Written {
                node: self.node(head.node),
                at: head.at,
                bytes: bytes.into(),
            },
            RESIZED => Change::Resized {
                node: self.node(head.node),
                length: head.at,
            },
            SYNCED => Change::Synced {
                node: self.node(head.node),
            },
            FOLDER_SYNCED => {
                let node = self.node(head.node);
                self.find_unseen(node, &listing(bytes));
                Change::FolderSynced { node }
            }
            RENAMED => {
                let to = String::from_utf8(bytes.to_vec()).expect("a name of UTF-8");
                let (from, to) = ((self.node(head.folder), name), (self.node(head.into), to));
                self.rename(from, to, self.node(head.node))
            }
            LINKED => {
                let at = (self.node(head.folder), name);
                let node = self.node(head.node);
                self.put(&at, node);
                Change::Linked { at, node }
            }
            REMOVED => {
                let at = (self.node(head.folder), name);
                self.drop(&at);
                Change::Removed { at }
            }
            ACKNOWLEDGED => Change::Acknowledged { key: name },
            kind => panic!("record of kind {kind}"),
        };
        self.changes.push(change);
    }

    /// Compares a folder's listing with the expected names: differences come from calls that were not recorded.
    fn find_unseen(&mut self, folder: Node, listed: &[(u64, String)]) {
        let listed: Vec<&(u64, String)> = listed
            .iter()
            .filter(|(_, name)| folder != ROOT || FOLDERS.contains(&name.as_str()))
            .collect();
        for (inode, name) in &listed {
            let (node, to) = (self.node(*inode), (folder, name.clone()));
            let known = self.tree.get(&folder).and_then(|names| names.get(name));
            if known != Some(&node) {
                let from = self.name_of(node).expect("a file that had a name");
                let change = self.rename(from, to, node);
                self.changes.push(change);
            }
        }
        let names = self.tree.get(&folder).into_iter().flatten();
        let is_listed = |name: &String| listed.iter().any(|(_, listed)| listed == name);
        let gone: Vec<Name> = names
            .filter(|(name, _)| folder != ROOT || FOLDERS.contains(&name.as_str()))
            .filter(|(name, _)| !is_listed(name))
            .map(|(name, _)| (folder, name.clone()))
            .collect();
        for at in gone {
            self.drop(&at);
            self.changes.push(Change::Removed { at });
        }
    }

    /// Does the same for a folder and all folders below it, in their current state.
    fn find_unseen_below(&mut self, node: Node, folder: &Path) {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let mut listed = Vec::new();
        let mut folders = Vec::new();
        for entry in entries {
            let name = entry.file_name().into_string().expect("a name of UTF-8");
            if node == ROOT && !FOLDERS.contains(&name.as_str()) {
                continue;
            }
            if entry.file_type().expect("a kind").is_dir() {
                folders.push((entry.ino(), entry.path()));
            }
            listed.push((entry.ino(), name));
        }
        self.find_unseen(node, &listed);
        for (inode, path) in folders {
            self.find_unseen_below(self.node(inode), &path);
        }
    }

    fn name_of(&self, node: Node) -> Option<Name> {
        self.tree.iter().find_map(|(folder, names)| {
            let mut names = names.iter();
            let found = names.find(|(_, found)| **found == node);
            found.map(|(name, _)| (*folder, name.clone()))
        })
    }

    fn rename(&mut self, from: Name, to: Name, node: Node) -> Change {
        self.drop(&from);
        self.put(&to, node);
        Change::Renamed { from, to, node }
    }

    fn node(&self, inode: u64) -> Node {
        let known = self.nodes.get(&inode).copied();
        known.unwrap_or_else(|| panic!("nobody was seen to make inode {inode}"))
    }

    fn put(&mut self, (folder, name): &Name, node: Node) {
        let names = self.tree.entry(*folder).or_default();
        names.insert(name.clone(), node);
    }

    fn drop(&mut self, (folder, name): &Name) {
        if let Some(names) = self.tree.get_mut(folder) {
            names.remove(name);
        }
    }
}

/// Parses a folder's listing: inode numbers and names.
fn listing(mut listed: &[u8]) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    while let Some((inode, behind)) = listed.split_first_chunk() {
        let end = behind.iter().position(|byte| *byte == 0);
        let (name, behind) = behind.split_at(end.expect("a 0 behind each name"));
        let name = String::from_utf8(name.to_vec()).expect("a name of UTF-8");
        found.push((u64::from_ne_bytes(*inode), name));
        listed = behind.get(1..).unwrap_or_default();
    }
    found
}
