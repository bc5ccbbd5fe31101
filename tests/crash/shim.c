/* Counts the file-system calls that change something below one folder, and kills the process before
   call number N, or makes that call fail. Loaded with LD_PRELOAD; see driver.py.

   Only calls through the C library's public functions are seen. Python writes that way; a call from
   inside the C library, such as the write() of fwrite(), is not seen. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF, COUNT, KILL, FAIL_ONCE, FAIL_FROM };

static char folder[4096];
static size_t folder_length;
static int mode = OFF, chosen_call, chosen_error;
static atomic_int calls;
static bool is_watched[1 << 16]; /* by file descriptor: a file or folder below the folder */

/* Begin to watch. `call` counts from 1; `error` is the errno of a failing call. */
void crash_arm(const char* path, int new_mode, int call, int error) {
  folder_length = strlen(path);
  memcpy(folder, path, folder_length + 1);
  chosen_call = call;
  chosen_error = error;
  atomic_store(&calls, 0);
  mode = new_mode;
}

int crash_calls(void) { return atomic_load(&calls); }

static bool is_below(int directory, const char* path) {
  char whole[8192];
  if (mode == OFF || path == NULL) return false;
  if (path[0] != '/') {
    char base[4096];
    if (directory == AT_FDCWD) {
      if (getcwd(base, sizeof base) == NULL) return false;
    } else {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
      ssize_t length = readlink(link, base, sizeof base - 1);
      if (length < 0) return false;
      base[length] = 0;
    }
    snprintf(whole, sizeof whole, "%s/%s", base, path);
    path = whole;
  }
  return strncmp(path, folder, folder_length) == 0 &&
         (path[folder_length] == '/' || path[folder_length] == 0);
}

static bool is_open_below(int fd) {
  return mode != OFF && fd >= 0 && fd < (1 << 16) && is_watched[fd];
}

/* Count one call. Returns true, with errno set, if it must fail. A full disk still removes files. */
static bool step(bool takes_space) {
  int number = atomic_fetch_add(&calls, 1) + 1;
  if (mode == KILL && number == chosen_call) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  bool is_chosen = (mode == FAIL_ONCE && number == chosen_call) ||
                   (mode == FAIL_FROM && number >= chosen_call);
  if (!is_chosen || (chosen_error == ENOSPC && !takes_space)) return false;
  errno = chosen_error;
  return true;
}

#define REAL(type, name, ...)                              \
  static type (*real)(__VA_ARGS__);                        \
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, name)

#define OPEN(function, name, declared, directory, ...)                                 \
  int function declared {                                                              \
    mode_t permissions = 0;                                                            \
    if (flags & (O_CREAT | O_TMPFILE)) {                                               \
      va_list rest;                                                                    \
      va_start(rest, flags);                                                           \
      permissions = va_arg(rest, mode_t);                                              \
      va_end(rest);                                                                    \
    }                                                                                  \
    static int (*real) declared;                                                       \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, name);                         \
    bool below = is_below(directory, path);                                            \
    if (below && (flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC)) &&                  \
        step((flags & O_CREAT) != 0))                                                  \
      return -1;                                                                       \
    int fd = real(__VA_ARGS__, flags, permissions);                                    \
    if (fd >= 0 && fd < (1 << 16)) is_watched[fd] = below;                             \
    return fd;                                                                         \
  }

OPEN(open, "open", (const char* path, int flags, ...), AT_FDCWD, path)
OPEN(open64, "open64", (const char* path, int flags, ...), AT_FDCWD, path)
OPEN(openat, "openat", (int at, const char* path, int flags, ...), at, at, path)
OPEN(openat64, "openat64", (int at, const char* path, int flags, ...), at, at, path)

int close(int fd) {
  REAL(int, "close", int);
  if (is_open_below(fd)) {
    step(false); /* a failing close would leave the descriptor open */
    is_watched[fd] = false;
  }
  return real(fd);
}

#define ON_DESCRIPTOR(type, function, declared, fd, ...)      \
  type function declared {                                    \
    static type(*real) declared;                              \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #function); \
    if (is_open_below(fd) && step(true)) return -1;           \
    return real(__VA_ARGS__);                                 \
  }

ON_DESCRIPTOR(ssize_t, write, (int fd, const void* data, size_t size), fd, fd, data, size)
ON_DESCRIPTOR(ssize_t, writev, (int fd, const struct iovec* parts, int count), fd, fd, parts, count)
ON_DESCRIPTOR(ssize_t, pwrite, (int fd, const void* data, size_t size, off_t at), fd, fd, data, size, at)
ON_DESCRIPTOR(ssize_t, pwrite64, (int fd, const void* data, size_t size, off64_t at), fd, fd, data, size, at)
ON_DESCRIPTOR(int, ftruncate, (int fd, off_t size), fd, fd, size)
ON_DESCRIPTOR(int, ftruncate64, (int fd, off64_t size), fd, fd, size)
ON_DESCRIPTOR(int, fsync, (int fd), fd, fd)
ON_DESCRIPTOR(int, fdatasync, (int fd), fd, fd)

#define ON_PATH(function, declared, directory, path, takes_space, ...) \
  int function declared {                                              \
    static int(*real) declared;                                        \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #function);    \
    if (is_below(directory, path) && step(takes_space)) return -1;     \
    return real(__VA_ARGS__);                                          \
  }

ON_PATH(mkdir, (const char* path, mode_t bits), AT_FDCWD, path, true, path, bits)
ON_PATH(mkdirat, (int at, const char* path, mode_t bits), at, path, true, at, path, bits)
ON_PATH(rmdir, (const char* path), AT_FDCWD, path, false, path)
ON_PATH(unlink, (const char* path), AT_FDCWD, path, false, path)
ON_PATH(unlinkat, (int at, const char* path, int flags), at, path, false, at, path, flags)
ON_PATH(truncate, (const char* path, off_t size), AT_FDCWD, path, true, path, size)
ON_PATH(truncate64, (const char* path, off64_t size), AT_FDCWD, path, true, path, size)
ON_PATH(rename, (const char* from, const char* to), AT_FDCWD, to, true, from, to)
ON_PATH(renameat, (int at, const char* from, int to_at, const char* to), to_at, to, true, at, from, to_at, to)
ON_PATH(renameat2, (int at, const char* from, int to_at, const char* to, unsigned flags), to_at, to, true, at, from, to_at, to, flags)
ON_PATH(link, (const char* from, const char* to), AT_FDCWD, to, true, from, to)
ON_PATH(linkat, (int at, const char* from, int to_at, const char* to, int flags), to_at, to, true, at, from, to_at, to, flags)
ON_PATH(symlink, (const char* text, const char* to), AT_FDCWD, to, true, text, to)
