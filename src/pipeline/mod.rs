//! Reading, the worker pool, ordering, writing, checkpoint and resume.
