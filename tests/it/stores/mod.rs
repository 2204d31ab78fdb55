//! Inputs and outputs that are URLs: on an S3 server that others wrote, on web servers, on the hub, and in builds without them.

mod not_built;

#[cfg(feature = "stores")]
mod faults;
#[cfg(feature = "stores")]
mod hub;
#[cfg(feature = "stores")]
mod kill;
#[cfg(feature = "stores")]
mod merge;
#[cfg(feature = "stores")]
mod proxy;
#[cfg(feature = "stores")]
mod round_trip;
#[cfg(feature = "stores")]
mod s3;
#[cfg(feature = "stores")]
mod web;
