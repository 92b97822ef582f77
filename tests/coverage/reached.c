/* Linked into programs whose sources are compiled with -fsanitize-coverage=trace-pc
 * (tests/coverage/run): each basic block that runs sets a byte in the file REACHED. The file is
 * mapped before main, so that closed descriptors, a new root, new ids, a seccomp filter or a fork
 * lose nothing. Without the file nothing is recorded. Plain system calls, for any libc. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE (4 << 20) /* of a program's text */

extern const char __executable_start[];
static unsigned char nowhere[SIZE];
static unsigned char *marks = nowhere;

__attribute__((constructor(101))) static void begin(void)
{
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, REACHED, O_RDWR | O_CLOEXEC);
    const long at = syscall(SYS_mmap, NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at > 0)
        marks = (unsigned char *)at;
    (void)syscall(SYS_close, fd);
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    const size_t at = (size_t)((const char *)__builtin_return_address(0) - __executable_start);
    if (at < SIZE)
        marks[at] = 1;
}
