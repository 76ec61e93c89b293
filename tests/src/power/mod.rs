//! Power cuts: what a daemon did to its files is written down, and every state that a disk could be
//! in after a cut at any moment is made anew, as files to start another daemon on.
//!
//! What was written, resized, made, renamed or removed reaches the disk when it is synced, or before
//! that, or in part. [`Left`] says how much of it did, [`Names`] what a sync of a file promises for names.

mod file;
mod recording;

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

use crate::Random;
use file::Kept;
pub use recording::{Change, Recorder, Recording};

/// How much of what was not synced has reached the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// All of it, as after a kill.
    Everything,
    /// None of it.
    Nothing,
    /// Names and lengths, but no contents: zeros.
    Lengths,
    /// Names, lengths, and of each file the first page that was written.
    FirstPages,
    /// Names, lengths, and of each file the last page that was written.
    LastPages,
    /// Of each page any of its contents, one in seven torn; any length; some of the names.
    Anything,
}

impl Left {
    /// Each of them.
    pub const ALL: [Self; 6] = [
        Self::Everything,
        Self::Nothing,
        Self::Lengths,
        Self::FirstPages,
        Self::LastPages,
        Self::Anything,
    ];
}

/// When a name is safe, and which others are then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Names {
    /// Once anything that was done later is synced: one journal has them all in order, as in ext4 and XFS.
    InOrder,
    /// Once its folder is synced, each by itself: no more than POSIX promises.
    Alone,
}

impl Names {
    /// Each of them.
    pub const ALL: [Self; 2] = [Self::InOrder, Self::Alone];
}

/// A number that a file or folder has in a recording; the folder itself is [`ROOT`].
type Node = usize;

/// The recorded folder.
const ROOT: Node = 0;

/// A disk on which recorded changes happen one after the other.
#[derive(Debug)]
pub struct Disk {
    names: Names,
    files: BTreeMap<Node, Kept>,
    /// Changes of names, and whether each is safe.
    named: Vec<(Named, bool)>,
    acknowledged: Vec<String>,
}

/// A change of names.
#[derive(Clone, Debug)]
struct Named {
    /// The name that goes.
    from: Option<Name>,
    /// The name that comes.
    to: Option<(Name, Node)>,
}

/// A name in a folder.
type Name = (Node, String);

/// Names of each folder, and what they stand for.
type Tree = BTreeMap<Node, BTreeMap<String, Node>>;

impl Disk {
    /// An empty folder on a disk.
    #[must_use]
    pub fn new(names: Names) -> Self {
        Self {
            names,
            files: BTreeMap::new(),
            named: Vec::new(),
            acknowledged: Vec::new(),
        }
    }

    /// Lets one more change happen.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Made {
                at,
                node,
                is_folder,
            } => {
                if !is_folder {
                    self.files.insert(*node, Kept::default());
                }
                self.name(None, Some((at.clone(), *node)));
            }
            Change::Written { node, at, bytes } => {
                self.file(*node).write(*at, bytes.clone());
            }
            Change::Resized { node, length } => self.file(*node).resize(*length),
            Change::Synced { node } => {
                self.file(*node).sync();
                if self.names == Names::InOrder {
                    self.settle(None);
                }
            }
            Change::FolderSynced { node } => {
                let alone = self.names == Names::Alone;
                self.settle(alone.then_some(*node));
            }
            Change::Renamed { from, to, node } => {
                self.name(Some(from.clone()), Some((to.clone(), *node)));
            }
            Change::Linked { at, node } => self.name(None, Some((at.clone(), *node))),
            Change::Removed { at } => self.name(Some(at.clone()), None),
            Change::Acknowledged { key } => self.acknowledged.push(key.clone()),
        }
    }

    /// What had been acknowledged by now.
    #[must_use]
    pub fn acknowledged(&self) -> &[String] {
        &self.acknowledged
    }

    /// Makes in an empty folder what a cut now could leave.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn leave(&self, left: Left, random: &mut Random, folder: &Path) {
        let tree = self.tree(left, random);
        self.make(&tree, ROOT, left, random, folder);
    }

    fn make(&self, tree: &Tree, node: Node, left: Left, random: &mut Random, at: &Path) {
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

    /// The names that a cut leaves: those that are safe, and some of the others.
    fn tree(&self, left: Left, random: &mut Random) -> Tree {
        let open = self.named.iter().filter(|(_, is_safe)| !is_safe).count() as u64;
        let first = random.range(0, open + 1);
        let mut number = 0;
        let mut reaches = |is_safe: bool| {
            if is_safe {
                return true;
            }
            number += 1;
            match (left, self.names) {
                (Left::Nothing, _) => false,
                (Left::Anything, Names::InOrder) => number <= first,
                (Left::Anything, Names::Alone) => random.one_in(2),
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

    fn file(&mut self, node: Node) -> &mut Kept {
        self.files.get_mut(&node).expect("a file that was made")
    }

    fn name(&mut self, from: Option<Name>, to: Option<(Name, Node)>) {
        self.named.push((Named { from, to }, false));
    }

    /// Makes names safe: all, or those of one folder.
    fn settle(&mut self, folder: Option<Node>) {
        for (named, is_safe) in &mut self.named {
            *is_safe |= folder.is_none_or(|folder| named.is_in(folder));
        }
    }
}

impl Named {
    fn apply(&self, tree: &mut Tree) {
        if let Some((folder, name)) = &self.from
            && let Some(names) = tree.get_mut(folder)
        {
            // In a renaming only the name of that very file goes.
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

fn write_out(kept: &Kept, file: &File) -> std::io::Result<()> {
    file.set_len(kept.length())?;
    for (at, bytes) in kept.pieces() {
        file.write_all_at(bytes, at)?;
    }
    Ok(())
}
