/* The protocol of a service's master (org.apache.hadoop.yarn.service), as in methods.h: its name
 * and its methods as an X-macro list. Version 1. */
#ifndef SELVEDGE_WIRE_IPC_METHODS_SERVICE_H
#define SELVEDGE_WIRE_IPC_METHODS_SERVICE_H

#include "proto/yarn_service_am.pb-c.h"

/* Client → master of a service. Served by service/am. */
#define YARN_SERVICE_AM_PROTOCOL "org.apache.hadoop.yarn.service.ClientAMProtocol"
#define YARN_SERVICE_AM_METHODS(X)                                                                 \
    X(flexComponents, hadoop__yarn__flex_components_request_proto,                                 \
      hadoop__yarn__flex_components_response_proto)                                                \
    X(getStatus, hadoop__yarn__get_status_request_proto, hadoop__yarn__get_status_response_proto)  \
    X(stop, hadoop__yarn__stop_request_proto, hadoop__yarn__stop_response_proto)                   \
    X(upgradeService, hadoop__yarn__upgrade_service_request_proto,                                 \
      hadoop__yarn__upgrade_service_response_proto)                                                \
    X(cancelUpgrade, hadoop__yarn__cancel_upgrade_request_proto,                                   \
      hadoop__yarn__cancel_upgrade_response_proto)                                                 \
    X(restartService, hadoop__yarn__restart_service_request_proto,                                 \
      hadoop__yarn__restart_service_response_proto)                                                \
    X(upgrade, hadoop__yarn__comp_instances_upgrade_request_proto,                                 \
      hadoop__yarn__comp_instances_upgrade_response_proto)                                         \
    X(getCompInstances, hadoop__yarn__get_comp_instances_request_proto,                            \
      hadoop__yarn__get_comp_instances_response_proto)                                             \
    X(decommissionCompInstances, hadoop__yarn__decommission_comp_instances_request_proto,          \
      hadoop__yarn__decommission_comp_instances_response_proto)

#endif
