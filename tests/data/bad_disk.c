/* A bad disk for the files below one folder, to be preloaded: it fails, cuts short, and records.
 *
 * BAD_DISK is the folder. What is written to a file of it named `plan` says what happens next, and starts
 * the count anew: `KIND N HOW`, where KIND is `sync` or `write`, N the first call that is hit, counted from 1,
 * and HOW `eio`, `enospc` or `short` (half is written, then there is no room), with a `+` behind it when all
 * calls from then on are hit. `- 0 -` hits none. BAD_DISK_LOG, if set, is the file that every call is
 * appended to: a line `WORD NAME A B`, for a write followed by its B bytes. Files named `…-shm` are hit but
 * not recorded, being made anew after a crash. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char kind[8] = "-", how[8] = "-";
static long first, counted, for_ever;

static ssize_t plain_write(int fd, const void *data, size_t size) {
  return syscall(SYS_write, fd, data, size);
}

/* The name below the folder, or none. */
static const char *name_of(const char *path) {
  const char *folder = getenv("BAD_DISK");
  size_t length = folder ? strlen(folder) : 0;
  if (!length || strncmp(path, folder, length) || path[length] != '/') return NULL;
  return path + length + 1;
}

static const char *name_of_open(int fd, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  if (length < 0) return NULL;
  path[length] = 0;
  return name_of(path);
}

static int ends(const char *name, const char *end) {
  size_t all = strlen(name), last = strlen(end);
  return all >= last && !strcmp(name + all - last, end);
}

static void record(const char *word, const char *name, long a, long b, const void *data) {
  const char *log = getenv("BAD_DISK_LOG");
  if (!log || ends(name, "-shm")) return;
  int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  char line[512];
  int length = snprintf(line, sizeof line, "%s %s %ld %ld\n", word, name, a, b);
  plain_write(fd, line, length);
  if (data) plain_write(fd, data, b);
  close(fd);
}

/* Whether this call is hit. */
static int hit(const char *what) {
  if (strcmp(kind, what)) return 0;
  counted++;
  return counted == first || (for_ever && counted > first);
}

static int fail(void) {
  errno = strcmp(how, "eio") ? ENOSPC : EIO;
  return -1;
}

static void take_plan(const char *text, size_t size) {
  char plan[64] = {0};
  memcpy(plan, text, size < 63 ? size : 63);
  counted = for_ever = first = 0;
  sscanf(plan, "%7s %ld %7s", kind, &first, how);
  size_t length = strlen(how);
  if (length && how[length - 1] == '+') {
    for_ever = 1;
    how[length - 1] = 0;
  }
}

static ssize_t written(int fd, const void *data, size_t size, off_t offset, int placed) {
  char path[4096];
  const char *name = name_of_open(fd, path, sizeof path);
  if (!name) return placed ? syscall(SYS_pwrite64, fd, data, size, offset) : plain_write(fd, data, size);
  pthread_mutex_lock(&lock);
  ssize_t done;
  if (!strcmp(name, "plan")) {
    take_plan(data, size);
    done = plain_write(fd, data, size);
  } else {
    int bad = strcmp(name, "mark") && hit("write");
    int cut = bad && !strcmp(how, "short") && size > 1;
    if (bad && !cut) {
      done = fail();
    } else {
      if (cut) size /= 2;
      if (!placed) offset = lseek(fd, 0, SEEK_CUR);
      done = placed ? syscall(SYS_pwrite64, fd, data, size, offset) : plain_write(fd, data, size);
      if (done > 0) record("write", name, offset, done, data);
      /* A disk that writes half has no room for the rest. */
      if (cut) first = counted + 1;
    }
  }
  int error = errno;
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *data, size_t size) { return written(fd, data, size, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return written(fd, data, size, at, 1); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { return written(fd, data, size, at, 1); }

/* The data is in the page cache all the same: nothing here cuts the power. */
static int synced(int fd) {
  char path[4096];
  const char *name = name_of_open(fd, path, sizeof path);
  if (!name) return syscall(SYS_fdatasync, fd);
  pthread_mutex_lock(&lock);
  int bad = hit("sync");
  int done = bad ? fail() : 0;
  int error = errno;
  record("sync", name, bad, 0, NULL);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

int fsync(int fd) { return synced(fd); }
int fdatasync(int fd) { return synced(fd); }

static int truncated(int fd, off_t size) {
  char path[4096];
  const char *name = name_of_open(fd, path, sizeof path);
  int done = syscall(SYS_ftruncate, fd, size);
  int error = errno;
  if (name && !done) {
    pthread_mutex_lock(&lock);
    record("cut", name, size, 0, NULL);
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return done;
}

int ftruncate(int fd, off_t size) { return truncated(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncated(fd, size); }

int unlink(const char *path) {
  const char *name = name_of(path);
  int done = syscall(SYS_unlink, path);
  int error = errno;
  if (name && !done) {
    pthread_mutex_lock(&lock);
    record("unlink", name, 0, 0, NULL);
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return done;
}
