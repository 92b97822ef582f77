/* Specifications of the Container Device Interface (CDI), in which a vendor's tool tells what a
 * container needs besides a card's nodes: `nvidia-ctk cdi generate --format=json`. Read are *.json
 * of /etc/cdi and /var/run/cdi, which must be root's alone; of them device nodes, mounts and the
 * environment. Hooks, which would run programs outside of the container, and what else this node
 * does not do are refused in words.
 *
 * The files are root's, so this guards against mistakes, and against a daemon's end by one: all of
 * a file is accepted, or nothing, with a message that names file and field. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CDI_SPEC_H
#define SELVEDGE_NODEMANAGER_CONF_CDI_SPEC_H

#include <sys/types.h>

#include "common/arena.h"
#include "common/error.h"

#define NM_CDI_FILE_MAX ((size_t)1 << 20)
#define NM_CDI_FILES_MAX 64    /* of both directories */
#define NM_CDI_DEVICES_MAX 512 /* of a file */
#define NM_CDI_LIST_MAX 256    /* nodes, mounts, variables of a device */
#define NM_CDI_TEXT_MAX 4096   /* bytes of a text */

struct nm_cdi_place {
    const char *host, *inside; /* absolute paths */
    bool writable;             /* a mount without the option "ro" */
};

struct nm_cdi_edits {
    struct nm_cdi_place *nodes, *mounts;
    size_t n_nodes, n_mounts, n_env;
    const char **env_names, **env_values;
    const char *refused; /* "hooks", …: there, and not done; NULL */
};

struct nm_cdi_device {
    const char *name;
    struct nm_cdi_edits edits;
};

struct nm_cdi_spec {
    struct sv_arena *arena; /* of all of it */
    const char *file, *kind;
    struct nm_cdi_edits all; /* for each device */
    struct nm_cdi_device *devices;
    size_t n;
};

/* -EBADMSG with file and field. */
int nm_cdi_parse(const char *text, size_t len, const char *file, struct nm_cdi_spec **ret,
                 struct sv_error *err) _must_use_;
struct nm_cdi_spec *nm_cdi_spec_free(struct nm_cdi_spec *s);

struct nm_cdi {
    struct nm_cdi_spec *specs[NM_CDI_FILES_MAX]; /* a later one has precedence */
    size_t n;
};

typedef void (*nm_cdi_tell)(const char *text, void *userdata);

/* Reads the specifications of one kind ("nvidia.com/gpu") below `root` ("" for the machine), which
 * belong to `owner`. `tell` gets a line for each file that is not used, and for each feature that
 * is refused. -ENOMEM alone fails. */
int nm_cdi_load(const char *root, const char *kind, uid_t owner, nm_cdi_tell tell, void *userdata,
                struct nm_cdi **ret) _must_use_;
struct nm_cdi *nm_cdi_free(struct nm_cdi *c);
/* NULL: there is no such device. */
const struct nm_cdi_device *nm_cdi_find(const struct nm_cdi *c, const char *name,
                                        const struct nm_cdi_spec **ret_spec);

#endif
