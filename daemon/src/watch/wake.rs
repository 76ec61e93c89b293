//! Waking when a file arrives: by inotify, or by looking again where there is none.

use std::io;
use std::path::Path;
use std::time::Duration;

/// A watch of folders.
#[cfg(target_os = "linux")]
pub struct Wake {
    watch: lore::mailbox::FolderWatch,
    /// The same watch, as the runtime waits for it: it is read like a pipe.
    events: tokio::net::unix::pipe::Receiver,
}

#[cfg(target_os = "linux")]
impl Wake {
    /// Begins to watch no folder. Where folders cannot be watched, it wakes at this interval.
    ///
    /// # Errors
    /// The system's error, for example when the user has too many watches.
    pub fn begin(_look_every: Duration) -> io::Result<Self> {
        use std::os::fd::AsFd;
        let watch = lore::mailbox::FolderWatch::new()?;
        let events = watch.as_fd().try_clone_to_owned()?;
        let events = tokio::net::unix::pipe::Receiver::from_owned_fd_unchecked(events)?;
        Ok(Self { watch, events })
    }

    /// Watches a folder, too.
    ///
    /// # Errors
    /// The system's error.
    pub fn add(&self, folder: &Path) -> io::Result<()> {
        self.watch.add(folder)
    }

    /// Watches a folder for files and folders that are made in it, too.
    ///
    /// # Errors
    /// The system's error.
    pub fn add_for_new(&self, folder: &Path) -> io::Result<()> {
        self.watch.add_for_new(folder)
    }

    /// Waits until something came.
    ///
    /// # Errors
    /// The system's error.
    pub async fn woken(&self) -> io::Result<()> {
        let mut events = [0; 4096];
        loop {
            self.events.readable().await?;
            match self.events.try_read(&mut events) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Looks again after a while.
#[cfg(not(target_os = "linux"))]
pub struct Wake {
    look_every: Duration,
}

#[cfg(not(target_os = "linux"))]
impl Wake {
    /// Begins.
    ///
    /// # Errors
    /// None.
    pub fn begin(look_every: Duration) -> io::Result<Self> {
        Ok(Self { look_every })
    }

    /// Does nothing: all folders are looked at.
    ///
    /// # Errors
    /// None.
    pub fn add(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }

    /// As [`Self::add`].
    ///
    /// # Errors
    /// None.
    pub fn add_for_new(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Waits for the interval.
    ///
    /// # Errors
    /// None.
    pub async fn woken(&self) -> io::Result<()> {
        tokio::time::sleep(self.look_every).await;
        Ok(())
    }
}
