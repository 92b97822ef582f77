/* Random operations on a file system (fs/fs.h), and their answers as texts that every back end must
 * give alike: for tests/unit/fs/test-local and tests/interop/fs-compare.
 *
 * Not in an answer, since back ends differ in it: times, owners by name, inodes. */
#ifndef SELVEDGE_TESTS_LIB_FS_STEPS_H
#define SELVEDGE_TESTS_LIB_FS_STEPS_H

#include "fs/fs.h"

enum step_op {
    STEP_STATUS,
    STEP_LIST,
    STEP_READ, /* the rest of a file from an offset */
    STEP_CREATE,
    STEP_APPEND,
    STEP_RENAME,
    STEP_REMOVE,
    STEP_REMOVE_TREE,
    STEP_MKDIR,
    STEP_MODE,
    STEP_REPLICATION,
    STEP_OPS,
};

#define STEP_NAMES 4 /* of names that steps use */
#define STEP_PATH_MAX 400
#define STEP_SIZE_MAX ((1u << 20) + 513) /* more than a block of tests/interop/hdfs.py */

/* Names with what urls escape. The last one alone gets modes that close it to its owner, and only
 * as a directory below the root, which is neither moved nor removed with its tree: what a
 * half-closed tree does then is each file system's own. */
extern const char *const step_names[STEP_NAMES];

struct step {
    enum step_op op;
    char path[STEP_PATH_MAX], to[STEP_PATH_MAX];
    uint32_t mode, size, seed; /* of a file's content */
    uint32_t offset;           /* modulo the length */
};

struct steps {
    uint64_t random;   /* the seed, then the state */
    unsigned depth;    /* of paths, at most 3 */
    uint32_t max_size; /* of one writing, at most STEP_SIZE_MAX */
    bool close;        /* modes and names are made that fail */
};
void step_next(struct steps *s, struct step *ret);
uint32_t step_random(struct steps *s, uint32_t below);
/* Byte i of what a step writes. */
uint8_t step_byte(const struct step *s, uint32_t i);

#define STEP_OK 20 /* the cause of success; fits a mask of 32 bits */
struct answer {
    int cause;       /* enum fs_cause or STEP_OK */
    char text[2400]; /* "a file 644 7"; after a failure the cause's name */
    char why[SV_ERROR_TEXT_MAX];
};
void step_run(struct fs *fs, const struct step *s, struct answer *ret);

/* Sets an answer to a result, and the text to what follows if it is a success. */
void answer_set(struct answer *a, int result, const char *fmt, ...) _printf_(3, 4);
void answer_status(struct answer *a, const char *name, enum fs_kind kind, uint32_t mode,
                   uint64_t length);
void answer_bytes(struct answer *a, const uint8_t *p, uint64_t offset, size_t n);

const char *step_cause(int cause);
/* "rename a to b" */
const char *step_text(const struct step *s, char ret[3 * STEP_PATH_MAX]);

#endif
