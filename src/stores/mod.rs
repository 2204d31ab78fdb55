//! Object stores and web servers: objects read in ranges, and written by multipart uploads that appear when they are complete.
//!
//! A path that is a URL (`s3://bucket/key`) goes through the program as any path does. The functions here are called where a
//! file would be opened, listed, renamed or removed.

mod fault;
mod location;
mod shown;

#[cfg(feature = "stores")]
mod aws_profile;
#[cfg(feature = "stores")]
mod client;
#[cfg(feature = "stores")]
mod credentials;
#[cfg(feature = "stores")]
mod hub;
#[cfg(feature = "stores")]
mod lookup;
#[cfg(feature = "stores")]
mod object;
#[cfg(feature = "stores")]
mod output;
#[cfg(feature = "stores")]
mod part_record;
#[cfg(all(feature = "stores", feature = "parquet"))]
mod range_file;
#[cfg(feature = "stores")]
mod reader;
#[cfg(feature = "stores")]
mod runtime;
#[cfg(feature = "stores")]
mod sender;
#[cfg(feature = "stores")]
mod store_fault;
#[cfg(feature = "stores")]
mod upload;
#[cfg(feature = "stores")]
mod web;
#[cfg(not(feature = "stores"))]
mod without;

#[cfg(not(feature = "stores"))]
use fault::StoreFault;
pub use fault::help_of;
pub use location::{Location, is_url, staged, without_trailing_slash};
#[cfg(feature = "stores")]
pub use lookup::{found, object};
#[cfg(feature = "stores")]
pub use object::Object;
#[cfg(feature = "stores")]
pub use output::{check_writable, exist, publish, read, remove};
#[cfg(all(feature = "stores", feature = "parquet"))]
pub use range_file::RangeFile;
#[cfg(feature = "stores")]
pub use reader::ObjectReader;
pub use shown::argument;
#[cfg(feature = "stores")]
pub use upload::{Upload, discard};
#[cfg(all(not(feature = "stores"), feature = "parquet"))]
pub use without::RangeFile;
#[cfg(not(feature = "stores"))]
pub use without::{
    Object, ObjectReader, Upload, check_writable, discard, exist, found, object, publish, read, remove,
};

/// True if this build reads and writes object stores.
pub const IS_BUILT: bool = cfg!(feature = "stores");

/// The help where a URL is given, and this build has no code for it.
pub const NOT_BUILT: &str = "this build is without object stores: cargo install --path . --features stores makes one with them, and so is \
    the program of the Python wheel";
