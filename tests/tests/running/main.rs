//! The daemon on its machine: its folders and lock, service managers, other users, and `doctor`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod doctor;
mod folders;
mod follow;
mod managed;
mod review;
mod seals;
mod together;

mod users;
