/* The node's label and attributes in registrations and heartbeats, and the ResourceManager's
 * answers to them. Private to rm/. */
#ifndef SELVEDGE_NODEMANAGER_RM_LABEL_MESSAGES_H
#define SELVEDGE_NODEMANAGER_RM_LABEL_MESSAGES_H

#include "common/arena.h"
#include "common/base.h"

struct Hadoop__Yarn__NodeAttributesProto;
struct Hadoop__Yarn__NodeLabelsProto;
struct nm_updater;

/* NULL: nothing is told. -ENOMEM. */
int nm_rm_labels(struct nm_updater *u, struct sv_arena *a, bool registration,
                 struct Hadoop__Yarn__NodeLabelsProto **ret_labels,
                 struct Hadoop__Yarn__NodeAttributesProto **ret_attributes) _must_use_;
void nm_rm_labels_answered(struct nm_updater *u, bool labels, bool attributes, const char *why);
void nm_rm_labels_unanswered(struct nm_updater *u);

#endif
