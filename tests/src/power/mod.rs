//! Power cuts: a daemon's file calls are recorded, and every state of the disk after a cut at any moment is
//! reconstructed as files for another daemon.
//!
//! Writes, resizes, creations, renames and removals reach the disk when they are synced, or before that, or in
//! part. [`UnsyncedState`] selects how much did, and [`RenameSafety`] the guarantee of a file's sync for names.

mod file;
mod recording;

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

use crate::Random;
use file::StoredFile;
pub use recording::{Change, FOLDERS, Recorder, Recording};

/// How much of the unsynced changes has reached the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnsyncedState {
    /// All changes, as after a kill.
    Everything,
    /// No change.
    Nothing,
    /// Names and lengths, but no contents: zeros.
    Lengths,
    /// Names, lengths, and of each file the first page that was written.
    FirstPages,
    /// Names, lengths, and of each file the last page that was written.
    LastPages,
    /// Any content of each page, one in seven torn; any length; some of the names.
    Anything,
}

impl UnsyncedState {
    /// All variants.
    pub const ALL: [Self; 6] = [
        Self::Everything,
        Self::Nothing,
        Self::Lengths,
        Self::FirstPages,
        Self::LastPages,
        Self::Anything,
    ];
}

/// When a name is durable, and which other names are durable with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RenameSafety {
    /// As soon as any later change is synced: one journal orders all changes, as in ext4 and XFS.
    InOrder,
    /// When its folder is synced, each name separately: the guarantee of POSIX.
    Alone,
}

impl RenameSafety {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::InOrder, Self::Alone];
}

/// Number of a file or folder in a recording; the folder itself is [`ROOT`].
type Node = usize;

/// The recorded folder.
const ROOT: Node = 0;

/// A simulated disk to which recorded changes are applied in order.
#[derive(Debug)]
pub struct Disk {
    names: RenameSafety,
    files: BTreeMap<Node, StoredFile>,
    /// Changes of names, and whether each is durable.
    named: Vec<(NameChange, bool)>,
    acknowledged: Vec<String>,
}

/// A change of names.
#[derive(Clone, Debug)]
struct NameChange {
    /// The removed name.
    from: Option<Name>,
    /// The added name.
    to: Option<(Name, Node)>,
}

/// A name in a folder.
type Name = (Node, String);

/// The names in each folder, with their files and folders.
type Tree = BTreeMap<Node, BTreeMap<String, Node>>;

impl Disk {
    /// Creates an empty folder on a disk.
    pub fn new(names: RenameSafety) -> Self {
        Self {
            names,
            files: BTreeMap::new(),
            named: Vec::new(),
            acknowledged: Vec::new(),
        }
    }

    /// Applies the next change.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Made {
                at,
                node,
                is_folder,
            } => {
                if !is_folder {
                    self.files.insert(*node, StoredFile::default());
                }
                self.name(None, Some((at.clone(), *node)));
            }
            Change::Written { node, at, bytes } => {
                self.file(*node).write(*at, bytes.clone());
            }
            Change::Resized { node, length } => self.file(*node).resize(*length),
            Change::Synced { node } => {
                self.file(*node).sync();
                if self.names == RenameSafety::InOrder {
                    self.flush(None);
                }
            }
            Change::FolderSynced { node } => {
                let alone = self.names == RenameSafety::Alone;
                self.flush(alone.then_some(*node));
            }
            Change::Renamed { from, to, node } => {
                self.name(Some(from.clone()), Some((to.clone(), *node)));
            }
            Change::Linked { at, node } => self.name(None, Some((at.clone(), *node))),
            Change::Removed { at } => self.name(Some(at.clone()), None),
            Change::Acknowledged { key } => self.acknowledged.push(key.clone()),
        }
    }

    /// Returns the keys acknowledged so far.
    pub fn acknowledged(&self) -> &[String] {
        &self.acknowledged
    }

    /// Creates in an empty folder a state that a cut now could leave.
    pub fn leave(&self, left: UnsyncedState, random: &mut Random, folder: &Path) {
        let tree = self.tree(left, random);
        self.make(&tree, ROOT, left, random, folder);
    }

    fn make(&self, tree: &Tree, node: Node, left: UnsyncedState, random: &mut Random, at: &Path) {
        for (name, node) in tree.get(&node).into_iter().flatten() {
            let path = at.join(name);
            let Some(kept) = self.files.get(node) else {
                let made = DirBuilder::new().mode(0o700).create(&path);
                made.unwrap_or_else(|error| panic!("{path:?}: {error}"));
                self.make(tree, *node, left, random, &path);
                continue;
            };
            let made = OpenOptions::new()
                .create_new(true)
                .write(true)
                .mode(0o600)
                .open(&path);
            let written = made.and_then(|file| write_out(&kept.left(left, random), &file));
            written.unwrap_or_else(|error| panic!("{path:?}: {error}"));
        }
    }

    /// Returns the names that a cut leaves: the durable ones, and some of the others.
    fn tree(&self, left: UnsyncedState, random: &mut Random) -> Tree {
        let open = self.named.iter().filter(|(_, is_safe)| !is_safe).count() as u64;
        let first = random.range(0, open + 1);
        let mut number = 0;
        let mut reaches = |is_safe: bool| {
            if is_safe {
                return true;
            }
            number += 1;
            match (left, self.names) {
                (UnsyncedState::Nothing, _) => false,
                (UnsyncedState::Anything, RenameSafety::InOrder) => number <= first,
                (UnsyncedState::Anything, RenameSafety::Alone) => random.one_in(2),
                _ => true,
            }
        };
        let mut tree = Tree::new();
        for (named, is_safe) in &self.named {
            if reaches(*is_safe) {
                named.apply(&mut tree);
            }
        }
        tree
    }

    fn file(&mut self, node: Node) -> &mut StoredFile {
        self.files.get_mut(&node).expect("a file that was made")
    }

    fn name(&mut self, from: Option<Name>, to: Option<(Name, Node)>) {
        self.named.push((NameChange { from, to }, false));
    }

    /// Marks names as durable: all, or those of one folder.
    fn flush(&mut self, folder: Option<Node>) {
        for (named, is_safe) in &mut self.named {
            *is_safe |= folder.is_none_or(|folder| named.is_in(folder));
        }
    }
}

impl NameChange {
    fn apply(&self, tree: &mut Tree) {
        if let Some((folder, name)) = &self.from
            && let Some(names) = tree.get_mut(folder)
        {
            // A rename removes only the name of that very file.
            let is_it = |found: &Node| self.to.as_ref().is_none_or(|(_, node)| node == found);
            if names.get(name).is_some_and(is_it) {
                names.remove(name);
            }
        }
        if let Some(((folder, name), node)) = &self.to {
            tree.entry(*folder).or_default().insert(name.clone(), *node);
        }
    }

    fn is_in(&self, folder: Node) -> bool {
        let to = self.to.as_ref().map(|(name, _)| name);
        [self.from.as_ref(), to]
            .into_iter()
            .flatten()
            .any(|(of, _)| *of == folder)
    }
}

fn write_out(kept: &StoredFile, file: &File) -> std::io::Result<()> {
    file.set_len(kept.length())?;
    for (at, bytes) in kept.pieces() {
        file.write_all_at(bytes, at)?;
    }
    Ok(())
}
