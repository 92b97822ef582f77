/* Small files of the cgroup file system, by directory descriptor; and parsers of their texts. */
#ifndef SELVEDGE_CGROUPS_FILE_H
#define SELVEDGE_CGROUPS_FILE_H

#include "common/base.h"

struct cg_stall;

#define CG_FILE_MAX 4096

/* Whole content, NUL-terminated, into CG_FILE_MAX bytes; -errno (-ENOENT: controller is off). */
int cg_file_read(int dirfd, const char *name, char *buf) _must_use_;
int cg_file_pread(int fd, char *buf) _must_use_; /* reads an open file again */
int cg_file_write(int dirfd, const char *name, const char *text) _must_use_;

/* "123\n" or "max\n" (UINT64_MAX). */
int cg_parse_value(const char *text, uint64_t *ret) _must_use_;
/* The number after `key` in lines "key number"; -ENOENT. */
int cg_parse_key(const char *text, const char *key, uint64_t *ret) _must_use_;
/* Sum of `key=` over the lines of io.stat ("8:0 rbytes=1 wbytes=2 …"); malformed values count 0. */
uint64_t cg_sum_io(const char *text, const char *key);
/* A pressure file: "some avg10=0.12 avg60=… total=34\nfull …". 0 or -EBADMSG; the line "full" may
 * be missing (cpu before Linux 5.13). */
int cg_parse_pressure(const char *text, struct cg_stall *ret) _must_use_;
/* "cpu memory pids" → bits of enum cg_controller; unknown words are ignored. */
unsigned cg_parse_controllers(const char *text);
/* "+cpu +memory" of the bits, into CG_FILE_MAX bytes. */
void cg_format_controllers(unsigned bits, const char *prefix, char *buf);
extern const char *const cg_controller_names[]; /* by bit number, NULL at the end */

#endif
