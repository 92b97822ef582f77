/* A relay, for the files relay*.c alone. */
#ifndef SELVEDGE_FEDERATION_AMRM_RELAY_PARTS_H
#define SELVEDGE_FEDERATION_AMRM_RELAY_PARTS_H

#include "common/buf.h"
#include "federation/amrm/relay-items.h"
#include "federation/amrm/relay.h"

struct fed_relay {
    struct fed_items items;
    struct sv_buf sent; /* lists of the request that is not answered yet */
    bool made;          /* there is one */
    int32_t response_id;
    bool has_progress;
    float progress;
    char *tracking_url;
};

static inline struct fed_item_ask fed_ask_of(const Hadoop__Yarn__PriorityProto *priority,
                                             const Hadoop__Yarn__ExecutionTypeRequestProto *type,
                                             int64_t id)
{
    return (struct fed_item_ask){ priority ? priority->priority : 0,
                                  type ? (int32_t)type->execution_type
                                       : HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED,
                                  id };
}

/* A resource request of the master's, or one like it. As fed_items_put(). */
int fed_relay_take_ask(struct fed_relay *r, const Hadoop__Yarn__ResourceRequestProto *row)
    _must_use_;

#endif
