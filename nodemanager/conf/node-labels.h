/* The label and the attributes that a node tells its ResourceManager: their forms in yarn-site.xml
 * and in the output of a script, Hadoop's names and values. The texts are an operator's. */
#ifndef SELVEDGE_NODEMANAGER_CONF_NODE_LABELS_H
#define SELVEDGE_NODEMANAGER_CONF_NODE_LABELS_H

#include "common/base.h"
#include "common/error.h"

enum nm_described { NM_LABELS, NM_ATTRIBUTES, NM_DESCRIBED };

#define NM_LABEL_MAX 256     /* bytes of a name or value, with its NUL */
#define NM_ATTRIBUTES_MAX 64 /* of a node; a node has at most one label */

struct nm_labels {
    size_t n;
    struct nm_label {
        char name[NM_LABEL_MAX], value[NM_LABEL_MAX]; /* of a label: no value */
    } list[NM_ATTRIBUTES_MAX];                        /* ascending by name */
};

/* yarn-site.xml: LABEL, or NAME,STRING,VALUE:NAME,STRING,VALUE. "" or NULL: none. */
int nm_labels_of_text(enum nm_described kind, const char *text, struct nm_labels *ret,
                      struct sv_error *err) _must_use_;
/* A script: a line NODE_PARTITION:LABEL, the last one if there are several, or lines
 * NODE_ATTRIBUTE:NAME,STRING,VALUE; other lines do not count. None of them: none. -EBADMSG: a line
 * of another form. */
int nm_labels_of_output(enum nm_described kind, const char *output, struct nm_labels *ret,
                        struct sv_error *err) _must_use_;
bool nm_labels_equal(const struct nm_labels *a, const struct nm_labels *b);

#endif
