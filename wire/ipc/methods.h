/* YARN's protocols: their names on the wire and their methods with request and response messages,
 * as X-macro lists. Used for servers' method tables and by callers.
 *
 *     #define ROW(name, request, response) \
 *         { #name, &request##__descriptor, &response##__descriptor, on_##name },
 *     static const struct ipc_method methods[] = { YARN_RESOURCE_TRACKER_METHODS(ROW) };
 *
 * Compared with a real Hadoop by tests/interop/test-proto-facts. Every protocol has version 1. */
#ifndef SELVEDGE_WIRE_IPC_METHODS_H
#define SELVEDGE_WIRE_IPC_METHODS_H

#include "proto/common_admin.pb-c.h"
#include "proto/rpc.pb-c.h"
#include "proto/security.pb-c.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_admin.pb-c.h"
#include "proto/yarn_server.pb-c.h"
#include "proto/yarn_service.pb-c.h"
#include "proto/yarn_token.pb-c.h"

/* NodeManager → ResourceManager (8031). Served by rm-lite. */
#define YARN_RESOURCE_TRACKER_PROTOCOL "org.apache.hadoop.yarn.server.api.ResourceTrackerPB"
#define YARN_RESOURCE_TRACKER_METHODS(X)                                                           \
    X(registerNodeManager, hadoop__yarn__register_node_manager_request_proto,                      \
      hadoop__yarn__register_node_manager_response_proto)                                          \
    X(nodeHeartbeat, hadoop__yarn__node_heartbeat_request_proto,                                   \
      hadoop__yarn__node_heartbeat_response_proto)                                                 \
    X(unRegisterNodeManager, hadoop__yarn__un_register_node_manager_request_proto,                 \
      hadoop__yarn__un_register_node_manager_response_proto)

/* ApplicationMaster → NodeManager. Served by nodemanager. */
#define YARN_CONTAINER_MANAGEMENT_PROTOCOL                                                         \
    "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB"
#define YARN_CONTAINER_MANAGEMENT_METHODS(X)                                                       \
    X(startContainers, hadoop__yarn__start_containers_request_proto,                               \
      hadoop__yarn__start_containers_response_proto)                                               \
    X(stopContainers, hadoop__yarn__stop_containers_request_proto,                                 \
      hadoop__yarn__stop_containers_response_proto)                                                \
    X(getContainerStatuses, hadoop__yarn__get_container_statuses_request_proto,                    \
      hadoop__yarn__get_container_statuses_response_proto)                                         \
    X(increaseContainersResource, hadoop__yarn__increase_containers_resource_request_proto,        \
      hadoop__yarn__increase_containers_resource_response_proto)                                   \
    X(updateContainer, hadoop__yarn__container_update_request_proto,                               \
      hadoop__yarn__container_update_response_proto)                                               \
    X(signalToContainer, hadoop__yarn__signal_container_request_proto,                             \
      hadoop__yarn__signal_container_response_proto)                                               \
    X(localize, hadoop__yarn__resource_localization_request_proto,                                 \
      hadoop__yarn__resource_localization_response_proto)                                          \
    X(reInitializeContainer, hadoop__yarn__re_initialize_container_request_proto,                  \
      hadoop__yarn__re_initialize_container_response_proto)                                        \
    X(restartContainer, hadoop__yarn__container_id_proto,                                          \
      hadoop__yarn__restart_container_response_proto)                                              \
    X(rollbackLastReInitialization, hadoop__yarn__container_id_proto,                              \
      hadoop__yarn__rollback_response_proto)                                                       \
    X(commitLastReInitialization, hadoop__yarn__container_id_proto,                                \
      hadoop__yarn__commit_response_proto)                                                         \
    X(getLocalizationStatuses, hadoop__yarn__get_localization_statuses_request_proto,              \
      hadoop__yarn__get_localization_statuses_response_proto)

/* ApplicationMaster → ResourceManager (8030). Served by rm-lite. */
#define YARN_APPLICATION_MASTER_PROTOCOL "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB"
#define YARN_APPLICATION_MASTER_METHODS(X)                                                         \
    X(registerApplicationMaster, hadoop__yarn__register_application_master_request_proto,          \
      hadoop__yarn__register_application_master_response_proto)                                    \
    X(finishApplicationMaster, hadoop__yarn__finish_application_master_request_proto,              \
      hadoop__yarn__finish_application_master_response_proto)                                      \
    X(allocate, hadoop__yarn__allocate_request_proto, hadoop__yarn__allocate_response_proto)

/* Client → ResourceManager (8032). Served by rm-lite. */
#define YARN_APPLICATION_CLIENT_PROTOCOL "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"
#define YARN_APPLICATION_CLIENT_METHODS(X)                                                         \
    X(getNewApplication, hadoop__yarn__get_new_application_request_proto,                          \
      hadoop__yarn__get_new_application_response_proto)                                            \
    X(submitApplication, hadoop__yarn__submit_application_request_proto,                           \
      hadoop__yarn__submit_application_response_proto)                                             \
    X(getApplicationReport, hadoop__yarn__get_application_report_request_proto,                    \
      hadoop__yarn__get_application_report_response_proto)                                         \
    X(forceKillApplication, hadoop__yarn__kill_application_request_proto,                          \
      hadoop__yarn__kill_application_response_proto)                                               \
    X(failApplicationAttempt, hadoop__yarn__fail_application_attempt_request_proto,                \
      hadoop__yarn__fail_application_attempt_response_proto)                                       \
    X(getClusterMetrics, hadoop__yarn__get_cluster_metrics_request_proto,                          \
      hadoop__yarn__get_cluster_metrics_response_proto)                                            \
    X(getApplications, hadoop__yarn__get_applications_request_proto,                               \
      hadoop__yarn__get_applications_response_proto)                                               \
    X(getClusterNodes, hadoop__yarn__get_cluster_nodes_request_proto,                              \
      hadoop__yarn__get_cluster_nodes_response_proto)                                              \
    X(getQueueInfo, hadoop__yarn__get_queue_info_request_proto,                                    \
      hadoop__yarn__get_queue_info_response_proto)                                                 \
    X(getQueueUserAcls, hadoop__yarn__get_queue_user_acls_info_request_proto,                      \
      hadoop__yarn__get_queue_user_acls_info_response_proto)                                       \
    X(getDelegationToken, hadoop__common__get_delegation_token_request_proto,                      \
      hadoop__common__get_delegation_token_response_proto)                                         \
    X(renewDelegationToken, hadoop__common__renew_delegation_token_request_proto,                  \
      hadoop__common__renew_delegation_token_response_proto)                                       \
    X(cancelDelegationToken, hadoop__common__cancel_delegation_token_request_proto,                \
      hadoop__common__cancel_delegation_token_response_proto)                                      \
    X(moveApplicationAcrossQueues, hadoop__yarn__move_application_across_queues_request_proto,     \
      hadoop__yarn__move_application_across_queues_response_proto)                                 \
    X(getApplicationAttemptReport, hadoop__yarn__get_application_attempt_report_request_proto,     \
      hadoop__yarn__get_application_attempt_report_response_proto)                                 \
    X(getApplicationAttempts, hadoop__yarn__get_application_attempts_request_proto,                \
      hadoop__yarn__get_application_attempts_response_proto)                                       \
    X(getContainerReport, hadoop__yarn__get_container_report_request_proto,                        \
      hadoop__yarn__get_container_report_response_proto)                                           \
    X(getContainers, hadoop__yarn__get_containers_request_proto,                                   \
      hadoop__yarn__get_containers_response_proto)                                                 \
    X(getNewReservation, hadoop__yarn__get_new_reservation_request_proto,                          \
      hadoop__yarn__get_new_reservation_response_proto)                                            \
    X(submitReservation, hadoop__yarn__reservation_submission_request_proto,                       \
      hadoop__yarn__reservation_submission_response_proto)                                         \
    X(updateReservation, hadoop__yarn__reservation_update_request_proto,                           \
      hadoop__yarn__reservation_update_response_proto)                                             \
    X(deleteReservation, hadoop__yarn__reservation_delete_request_proto,                           \
      hadoop__yarn__reservation_delete_response_proto)                                             \
    X(listReservations, hadoop__yarn__reservation_list_request_proto,                              \
      hadoop__yarn__reservation_list_response_proto)                                               \
    X(getNodeToLabels, hadoop__yarn__get_nodes_to_labels_request_proto,                            \
      hadoop__yarn__get_nodes_to_labels_response_proto)                                            \
    X(getLabelsToNodes, hadoop__yarn__get_labels_to_nodes_request_proto,                           \
      hadoop__yarn__get_labels_to_nodes_response_proto)                                            \
    X(getClusterNodeLabels, hadoop__yarn__get_cluster_node_labels_request_proto,                   \
      hadoop__yarn__get_cluster_node_labels_response_proto)                                        \
    X(updateApplicationPriority, hadoop__yarn__update_application_priority_request_proto,          \
      hadoop__yarn__update_application_priority_response_proto)                                    \
    X(signalToContainer, hadoop__yarn__signal_container_request_proto,                             \
      hadoop__yarn__signal_container_response_proto)                                               \
    X(updateApplicationTimeouts, hadoop__yarn__update_application_timeouts_request_proto,          \
      hadoop__yarn__update_application_timeouts_response_proto)                                    \
    X(getResourceProfiles, hadoop__yarn__get_all_resource_profiles_request_proto,                  \
      hadoop__yarn__get_all_resource_profiles_response_proto)                                      \
    X(getResourceProfile, hadoop__yarn__get_resource_profile_request_proto,                        \
      hadoop__yarn__get_resource_profile_response_proto)                                           \
    X(getResourceTypeInfo, hadoop__yarn__get_all_resource_type_info_request_proto,                 \
      hadoop__yarn__get_all_resource_type_info_response_proto)                                     \
    X(getClusterNodeAttributes, hadoop__yarn__get_cluster_node_attributes_request_proto,           \
      hadoop__yarn__get_cluster_node_attributes_response_proto)                                    \
    X(getAttributesToNodes, hadoop__yarn__get_attributes_to_nodes_request_proto,                   \
      hadoop__yarn__get_attributes_to_nodes_response_proto)                                        \
    X(getNodesToAttributes, hadoop__yarn__get_nodes_to_attributes_request_proto,                   \
      hadoop__yarn__get_nodes_to_attributes_response_proto)

/* Operator → ResourceManager (8033). Served by rm-lite. */
#define YARN_ADMIN_PROTOCOL                                                                        \
    "org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB"
#define YARN_ADMIN_METHODS(X)                                                                      \
    X(refreshQueues, hadoop__yarn__refresh_queues_request_proto,                                   \
      hadoop__yarn__refresh_queues_response_proto)                                                 \
    X(refreshNodes, hadoop__yarn__refresh_nodes_request_proto,                                     \
      hadoop__yarn__refresh_nodes_response_proto)                                                  \
    X(refreshSuperUserGroupsConfiguration,                                                         \
      hadoop__yarn__refresh_super_user_groups_configuration_request_proto,                         \
      hadoop__yarn__refresh_super_user_groups_configuration_response_proto)                        \
    X(refreshUserToGroupsMappings, hadoop__yarn__refresh_user_to_groups_mappings_request_proto,    \
      hadoop__yarn__refresh_user_to_groups_mappings_response_proto)                                \
    X(refreshAdminAcls, hadoop__yarn__refresh_admin_acls_request_proto,                            \
      hadoop__yarn__refresh_admin_acls_response_proto)                                             \
    X(refreshServiceAcls, hadoop__yarn__refresh_service_acls_request_proto,                        \
      hadoop__yarn__refresh_service_acls_response_proto)                                           \
    X(getGroupsForUser, hadoop__yarn__get_groups_for_user_request_proto,                           \
      hadoop__yarn__get_groups_for_user_response_proto)                                            \
    X(updateNodeResource, hadoop__yarn__update_node_resource_request_proto,                        \
      hadoop__yarn__update_node_resource_response_proto)                                           \
    X(refreshNodesResources, hadoop__yarn__refresh_nodes_resources_request_proto,                  \
      hadoop__yarn__refresh_nodes_resources_response_proto)                                        \
    X(addToClusterNodeLabels, hadoop__yarn__add_to_cluster_node_labels_request_proto,              \
      hadoop__yarn__add_to_cluster_node_labels_response_proto)                                     \
    X(removeFromClusterNodeLabels, hadoop__yarn__remove_from_cluster_node_labels_request_proto,    \
      hadoop__yarn__remove_from_cluster_node_labels_response_proto)                                \
    X(replaceLabelsOnNodes, hadoop__yarn__replace_labels_on_node_request_proto,                    \
      hadoop__yarn__replace_labels_on_node_response_proto)                                         \
    X(checkForDecommissioningNodes, hadoop__yarn__check_for_decommissioning_nodes_request_proto,   \
      hadoop__yarn__check_for_decommissioning_nodes_response_proto)                                \
    X(refreshClusterMaxPriority, hadoop__yarn__refresh_cluster_max_priority_request_proto,         \
      hadoop__yarn__refresh_cluster_max_priority_response_proto)                                   \
    X(mapAttributesToNodes, hadoop__yarn__nodes_to_attributes_mapping_request_proto,               \
      hadoop__yarn__nodes_to_attributes_mapping_response_proto)                                    \
    X(deregisterSubCluster, hadoop__yarn__deregister_sub_cluster_request_proto,                    \
      hadoop__yarn__deregister_sub_cluster_response_proto)                                         \
    X(saveFederationQueuePolicy, hadoop__yarn__save_federation_queue_policy_request_proto,         \
      hadoop__yarn__save_federation_queue_policy_response_proto)                                   \
    X(batchSaveFederationQueuePolicies,                                                            \
      hadoop__yarn__batch_save_federation_queue_policies_request_proto,                            \
      hadoop__yarn__batch_save_federation_queue_policies_response_proto)                           \
    X(listFederationQueuePolicies, hadoop__yarn__query_federation_queue_policies_request_proto,    \
      hadoop__yarn__query_federation_queue_policies_response_proto)                                \
    X(deleteFederationApplication, hadoop__yarn__delete_federation_application_request_proto,      \
      hadoop__yarn__delete_federation_application_response_proto)                                  \
    X(getFederationSubClusters, hadoop__yarn__get_sub_clusters_request_proto,                      \
      hadoop__yarn__get_sub_clusters_response_proto)                                               \
    X(deleteFederationPoliciesByQueues,                                                            \
      hadoop__yarn__delete_federation_queue_policies_request_proto,                                \
      hadoop__yarn__delete_federation_queue_policies_response_proto)

/* Failover controller → ResourceManager (8033). */
#define HADOOP_HA_SERVICE_PROTOCOL "org.apache.hadoop.ha.HAServiceProtocol"
#define HADOOP_HA_SERVICE_METHODS(X)                                                               \
    X(monitorHealth, hadoop__common__monitor_health_request_proto,                                 \
      hadoop__common__monitor_health_response_proto)                                               \
    X(transitionToActive, hadoop__common__transition_to_active_request_proto,                      \
      hadoop__common__transition_to_active_response_proto)                                         \
    X(transitionToStandby, hadoop__common__transition_to_standby_request_proto,                    \
      hadoop__common__transition_to_standby_response_proto)                                        \
    X(transitionToObserver, hadoop__common__transition_to_observer_request_proto,                  \
      hadoop__common__transition_to_observer_response_proto)                                       \
    X(getServiceStatus, hadoop__common__get_service_status_request_proto,                          \
      hadoop__common__get_service_status_response_proto)

/* Any client → any server: supported versions of a protocol. */
#define HADOOP_PROTOCOL_INFO_PROTOCOL "org.apache.hadoop.ipc.ProtocolMetaInfoPB"
#define HADOOP_PROTOCOL_INFO_METHODS(X)                                                            \
    X(getProtocolVersions, hadoop__common__get_protocol_versions_request_proto,                    \
      hadoop__common__get_protocol_versions_response_proto)                                        \
    X(getProtocolSignature, hadoop__common__get_protocol_signature_request_proto,                  \
      hadoop__common__get_protocol_signature_response_proto)

#endif
