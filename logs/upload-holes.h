/* Holes of sparse logs: a job makes a file of any apparent length without using disk space, and the
 * remote file system would store each byte of it. Zeros of short holes are uploaded, as by Hadoop;
 * beyond a limit a line stands for each long one. Hostile: the file. */
#ifndef SELVEDGE_LOGS_UPLOAD_HOLES_H
#define SELVEDGE_LOGS_UPLOAD_HOLES_H

#include "common/base.h"

#define LOGS_ZEROS_MAX (64ull << 20) /* bytes of holes that one upload writes, of all its files */
#define LOGS_HOLE_MIN (1ull << 20)   /* shorter holes always count as zeros */
#define LOGS_HOLES_MAX 64u           /* per file; further ones count as zeros */
#define LOGS_HOLE_LINE_MAX 160

/* Parts of a file that are not uploaded, ascending. */
struct logs_holes {
    struct logs_hole {
        uint64_t at, n;
        bool rest; /* the rest of the file, with its data: it has too many short holes */
    } v[LOGS_HOLES_MAX + 1];
    size_t n;
};

/* Finds the parts to leave out of a file of `length` bytes, and takes the zeros of its other holes
 * from *zeros; leaves out none if *zeros suffices. A file system that knows no holes has none.
 * Moves the file offset. */
void logs_holes_find(int fd, uint64_t length, uint64_t *zeros, struct logs_holes *ret);
/* The line in place of a part; returns its length. */
size_t logs_hole_line(const struct logs_hole *h, char ret[LOGS_HOLE_LINE_MAX]);
/* Bytes to upload of a file of `length` bytes. */
uint64_t logs_holes_length(const struct logs_holes *h, uint64_t length);

#endif
