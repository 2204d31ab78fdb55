/* A library to preload: notes every call by which a program changes files below its folder, and has one of them fail.
 *
 * DISK_FAULTS_LOG    the file that the notes go to, a line each: kind, path below the folder, number of that call
 * DISK_FAULTS_CALL   the call that fails, as it is noted, and then the only one that is; without it none fails
 * DISK_FAULTS_ERROR  the number of its error; 0: a write takes half of its bytes and says so
 * DISK_FAULTS_STAYS  if set, later calls of that kind on any file fail as well, and a write takes half of its bytes first
 *
 * Nothing waits for the disk: what the tests end is the process, not the machine.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_SITES = 20000, FAULT = 1, SHORT = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_length;
static int log_file = -1;
static const char *fatal_call;
static int error_number, stays, has_failed;
static struct {
    char *site;
    unsigned calls;
} sites[MOST_SITES];
static size_t site_count;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void start(void) {
    const char *log = getenv("DISK_FAULTS_LOG"), *error = getenv("DISK_FAULTS_ERROR");
    if (!log || !getcwd(folder, sizeof folder)) return;
    folder_length = strlen(folder);
    int (*open_file)(const char *, int, ...) = real("open");
    log_file = open_file(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    fatal_call = getenv("DISK_FAULTS_CALL");
    error_number = error ? atoi(error) : 0;
    stays = getenv("DISK_FAULTS_STAYS") != NULL;
    /* Programs that this one starts are left alone. */
    unsetenv("LD_PRELOAD");
}

/* The path below the folder; NULL if it is elsewhere. */
static const char *below(const char *path) {
    if (path[0] != '/') return path;
    if (strncmp(path, folder, folder_length) || path[folder_length] != '/') return NULL;
    return path + folder_length + 1;
}

static unsigned count(const char *site) {
    size_t at = 0;
    while (at < site_count && strcmp(sites[at].site, site)) at++;
    if (at == MOST_SITES) abort();
    if (at == site_count) {
        sites[at].site = strdup(site);
        site_count++;
    }
    return ++sites[at].calls;
}

/* Notes a call. Returns FAULT if it is to fail, SHORT if it is to take half of its bytes. */
static int meet(const char *kind, const char *path) {
    char site[PATH_MAX + 32], line[PATH_MAX + 64];
    if (log_file < 0 || !(path = below(path))) return 0;
    int saved = errno, verdict = 0;
    pthread_mutex_lock(&lock);
    snprintf(site, sizeof site, "%s %s", kind, path);
    int length = snprintf(line, sizeof line, "%s %u", site, count(site));
    int is_it = fatal_call && !strcmp(line, fatal_call);
    size_t of_kind = strlen(kind) + 1;
    int is_later = stays && has_failed && !strncmp(site, fatal_call, of_kind);
    if (is_it) {
        has_failed = 1;
        verdict = error_number == 0 || (stays && !strcmp(kind, "write")) ? SHORT : FAULT;
    } else if (is_later) {
        verdict = FAULT;
    }
    if (is_it || !fatal_call) {
        ssize_t (*write_bytes)(int, const void *, size_t) = real("write");
        line[length++] = '\n';
        if (write_bytes(log_file, line, (size_t)length) < 0) abort();
    }
    pthread_mutex_unlock(&lock);
    errno = verdict == FAULT ? error_number : saved;
    return verdict;
}

static int meet_file(const char *kind, int file) {
    char link[64], path[PATH_MAX];
    if (log_file < 0 || file == log_file) return 0;
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (length <= 0 || path[0] != '/') return 0;
    path[length] = 0;
    return meet(kind, path);
}

#define OPEN(name)                                               \
    int name(const char *path, int flags, ...) {                 \
        va_list rest;                                            \
        va_start(rest, flags);                                   \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                            \
        int (*call)(const char *, int, ...) = real(#name);       \
        return meet("open", path) ? -1 : call(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void *bytes, size_t length) {
    ssize_t (*call)(int, const void *, size_t) = real("write");
    int verdict = meet_file("write", file);
    return verdict == FAULT ? -1 : call(file, bytes, verdict == SHORT ? (length + 1) / 2 : length);
}

#define PWRITE(name, offset_type)                                                                  \
    ssize_t name(int file, const void *bytes, size_t length, offset_type offset) {                 \
        ssize_t (*call)(int, const void *, size_t, offset_type) = real(#name);                     \
        int verdict = meet_file("write", file);                                                    \
        return verdict == FAULT ? -1 : call(file, bytes, verdict == SHORT ? (length + 1) / 2 : length, offset); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, offset_type)                                   \
    int name(int file, offset_type length) {                          \
        int (*call)(int, offset_type) = real(#name);                  \
        return meet_file("ftruncate", file) ? -1 : call(file, length); \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name) \
    int name(int file) { return meet_file("fsync", file) ? -1 : 0; }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
    int (*call)(const char *, const char *) = real("rename");
    return meet("rename", to) ? -1 : call(from, to);
}

int unlink(const char *path) {
    int (*call)(const char *) = real("unlink");
    return meet("unlink", path) ? -1 : call(path);
}

int mkdir(const char *path, mode_t mode) {
    int (*call)(const char *, mode_t) = real("mkdir");
    return meet("mkdir", path) ? -1 : call(path, mode);
}
