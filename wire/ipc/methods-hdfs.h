/* HDFS's client protocols, like wire/ipc/methods.h for YARN: names on the wire, methods, messages.
 * Their messages are in a separate archive, $(WIRE_HDFS_A), linked before $(WIRE_A). Compared with
 * a real Hadoop by tests/interop/test-proto-facts. Every protocol has version 1. */
#ifndef SELVEDGE_WIRE_IPC_METHODS_HDFS_H
#define SELVEDGE_WIRE_IPC_METHODS_HDFS_H

#include "proto/common_admin.pb-c.h"
#include "proto/hdfs.pb-c.h"
#include "proto/hdfs_datanode.pb-c.h"
#include "proto/hdfs_namenode.pb-c.h"
#include "proto/security.pb-c.h"

/* Client → NameNode. */
#define HDFS_CLIENT_PROTOCOL "org.apache.hadoop.hdfs.protocol.ClientProtocol"
#define HDFS_CLIENT_METHODS(X)                                                                     \
    X(getBlockLocations, hadoop__hdfs__get_block_locations_request_proto,                          \
      hadoop__hdfs__get_block_locations_response_proto)                                            \
    X(getServerDefaults, hadoop__hdfs__get_server_defaults_request_proto,                          \
      hadoop__hdfs__get_server_defaults_response_proto)                                            \
    X(create, hadoop__hdfs__create_request_proto, hadoop__hdfs__create_response_proto)             \
    X(append, hadoop__hdfs__append_request_proto, hadoop__hdfs__append_response_proto)             \
    X(setReplication, hadoop__hdfs__set_replication_request_proto,                                 \
      hadoop__hdfs__set_replication_response_proto)                                                \
    X(setStoragePolicy, hadoop__hdfs__set_storage_policy_request_proto,                            \
      hadoop__hdfs__set_storage_policy_response_proto)                                             \
    X(unsetStoragePolicy, hadoop__hdfs__unset_storage_policy_request_proto,                        \
      hadoop__hdfs__unset_storage_policy_response_proto)                                           \
    X(getStoragePolicy, hadoop__hdfs__get_storage_policy_request_proto,                            \
      hadoop__hdfs__get_storage_policy_response_proto)                                             \
    X(getStoragePolicies, hadoop__hdfs__get_storage_policies_request_proto,                        \
      hadoop__hdfs__get_storage_policies_response_proto)                                           \
    X(setPermission, hadoop__hdfs__set_permission_request_proto,                                   \
      hadoop__hdfs__set_permission_response_proto)                                                 \
    X(setOwner, hadoop__hdfs__set_owner_request_proto, hadoop__hdfs__set_owner_response_proto)     \
    X(abandonBlock, hadoop__hdfs__abandon_block_request_proto,                                     \
      hadoop__hdfs__abandon_block_response_proto)                                                  \
    X(addBlock, hadoop__hdfs__add_block_request_proto, hadoop__hdfs__add_block_response_proto)     \
    X(getAdditionalDatanode, hadoop__hdfs__get_additional_datanode_request_proto,                  \
      hadoop__hdfs__get_additional_datanode_response_proto)                                        \
    X(complete, hadoop__hdfs__complete_request_proto, hadoop__hdfs__complete_response_proto)       \
    X(reportBadBlocks, hadoop__hdfs__report_bad_blocks_request_proto,                              \
      hadoop__hdfs__report_bad_blocks_response_proto)                                              \
    X(concat, hadoop__hdfs__concat_request_proto, hadoop__hdfs__concat_response_proto)             \
    X(truncate, hadoop__hdfs__truncate_request_proto, hadoop__hdfs__truncate_response_proto)       \
    X(rename, hadoop__hdfs__rename_request_proto, hadoop__hdfs__rename_response_proto)             \
    X(rename2, hadoop__hdfs__rename2_request_proto, hadoop__hdfs__rename2_response_proto)          \
    X(delete, hadoop__hdfs__delete_request_proto, hadoop__hdfs__delete_response_proto)             \
    X(mkdirs, hadoop__hdfs__mkdirs_request_proto, hadoop__hdfs__mkdirs_response_proto)             \
    X(getListing, hadoop__hdfs__get_listing_request_proto,                                         \
      hadoop__hdfs__get_listing_response_proto)                                                    \
    X(getBatchedListing, hadoop__hdfs__get_batched_listing_request_proto,                          \
      hadoop__hdfs__get_batched_listing_response_proto)                                            \
    X(renewLease, hadoop__hdfs__renew_lease_request_proto,                                         \
      hadoop__hdfs__renew_lease_response_proto)                                                    \
    X(recoverLease, hadoop__hdfs__recover_lease_request_proto,                                     \
      hadoop__hdfs__recover_lease_response_proto)                                                  \
    X(getFsStats, hadoop__hdfs__get_fs_status_request_proto,                                       \
      hadoop__hdfs__get_fs_stats_response_proto)                                                   \
    X(getFsReplicatedBlockStats, hadoop__hdfs__get_fs_replicated_block_stats_request_proto,        \
      hadoop__hdfs__get_fs_replicated_block_stats_response_proto)                                  \
    X(getFsECBlockGroupStats, hadoop__hdfs__get_fs_ecblock_group_stats_request_proto,              \
      hadoop__hdfs__get_fs_ecblock_group_stats_response_proto)                                     \
    X(getDatanodeReport, hadoop__hdfs__get_datanode_report_request_proto,                          \
      hadoop__hdfs__get_datanode_report_response_proto)                                            \
    X(getDatanodeStorageReport, hadoop__hdfs__get_datanode_storage_report_request_proto,           \
      hadoop__hdfs__get_datanode_storage_report_response_proto)                                    \
    X(getPreferredBlockSize, hadoop__hdfs__get_preferred_block_size_request_proto,                 \
      hadoop__hdfs__get_preferred_block_size_response_proto)                                       \
    X(setSafeMode, hadoop__hdfs__set_safe_mode_request_proto,                                      \
      hadoop__hdfs__set_safe_mode_response_proto)                                                  \
    X(saveNamespace, hadoop__hdfs__save_namespace_request_proto,                                   \
      hadoop__hdfs__save_namespace_response_proto)                                                 \
    X(rollEdits, hadoop__hdfs__roll_edits_request_proto, hadoop__hdfs__roll_edits_response_proto)  \
    X(restoreFailedStorage, hadoop__hdfs__restore_failed_storage_request_proto,                    \
      hadoop__hdfs__restore_failed_storage_response_proto)                                         \
    X(refreshNodes, hadoop__hdfs__refresh_nodes_request_proto,                                     \
      hadoop__hdfs__refresh_nodes_response_proto)                                                  \
    X(finalizeUpgrade, hadoop__hdfs__finalize_upgrade_request_proto,                               \
      hadoop__hdfs__finalize_upgrade_response_proto)                                               \
    X(upgradeStatus, hadoop__hdfs__upgrade_status_request_proto,                                   \
      hadoop__hdfs__upgrade_status_response_proto)                                                 \
    X(rollingUpgrade, hadoop__hdfs__rolling_upgrade_request_proto,                                 \
      hadoop__hdfs__rolling_upgrade_response_proto)                                                \
    X(listCorruptFileBlocks, hadoop__hdfs__list_corrupt_file_blocks_request_proto,                 \
      hadoop__hdfs__list_corrupt_file_blocks_response_proto)                                       \
    X(metaSave, hadoop__hdfs__meta_save_request_proto, hadoop__hdfs__meta_save_response_proto)     \
    X(getFileInfo, hadoop__hdfs__get_file_info_request_proto,                                      \
      hadoop__hdfs__get_file_info_response_proto)                                                  \
    X(getLocatedFileInfo, hadoop__hdfs__get_located_file_info_request_proto,                       \
      hadoop__hdfs__get_located_file_info_response_proto)                                          \
    X(addCacheDirective, hadoop__hdfs__add_cache_directive_request_proto,                          \
      hadoop__hdfs__add_cache_directive_response_proto)                                            \
    X(modifyCacheDirective, hadoop__hdfs__modify_cache_directive_request_proto,                    \
      hadoop__hdfs__modify_cache_directive_response_proto)                                         \
    X(removeCacheDirective, hadoop__hdfs__remove_cache_directive_request_proto,                    \
      hadoop__hdfs__remove_cache_directive_response_proto)                                         \
    X(listCacheDirectives, hadoop__hdfs__list_cache_directives_request_proto,                      \
      hadoop__hdfs__list_cache_directives_response_proto)                                          \
    X(addCachePool, hadoop__hdfs__add_cache_pool_request_proto,                                    \
      hadoop__hdfs__add_cache_pool_response_proto)                                                 \
    X(modifyCachePool, hadoop__hdfs__modify_cache_pool_request_proto,                              \
      hadoop__hdfs__modify_cache_pool_response_proto)                                              \
    X(removeCachePool, hadoop__hdfs__remove_cache_pool_request_proto,                              \
      hadoop__hdfs__remove_cache_pool_response_proto)                                              \
    X(listCachePools, hadoop__hdfs__list_cache_pools_request_proto,                                \
      hadoop__hdfs__list_cache_pools_response_proto)                                               \
    X(getFileLinkInfo, hadoop__hdfs__get_file_link_info_request_proto,                             \
      hadoop__hdfs__get_file_link_info_response_proto)                                             \
    X(getContentSummary, hadoop__hdfs__get_content_summary_request_proto,                          \
      hadoop__hdfs__get_content_summary_response_proto)                                            \
    X(setQuota, hadoop__hdfs__set_quota_request_proto, hadoop__hdfs__set_quota_response_proto)     \
    X(fsync, hadoop__hdfs__fsync_request_proto, hadoop__hdfs__fsync_response_proto)                \
    X(setTimes, hadoop__hdfs__set_times_request_proto, hadoop__hdfs__set_times_response_proto)     \
    X(createSymlink, hadoop__hdfs__create_symlink_request_proto,                                   \
      hadoop__hdfs__create_symlink_response_proto)                                                 \
    X(getLinkTarget, hadoop__hdfs__get_link_target_request_proto,                                  \
      hadoop__hdfs__get_link_target_response_proto)                                                \
    X(updateBlockForPipeline, hadoop__hdfs__update_block_for_pipeline_request_proto,               \
      hadoop__hdfs__update_block_for_pipeline_response_proto)                                      \
    X(updatePipeline, hadoop__hdfs__update_pipeline_request_proto,                                 \
      hadoop__hdfs__update_pipeline_response_proto)                                                \
    X(getDelegationToken, hadoop__common__get_delegation_token_request_proto,                      \
      hadoop__common__get_delegation_token_response_proto)                                         \
    X(renewDelegationToken, hadoop__common__renew_delegation_token_request_proto,                  \
      hadoop__common__renew_delegation_token_response_proto)                                       \
    X(cancelDelegationToken, hadoop__common__cancel_delegation_token_request_proto,                \
      hadoop__common__cancel_delegation_token_response_proto)                                      \
    X(setBalancerBandwidth, hadoop__hdfs__set_balancer_bandwidth_request_proto,                    \
      hadoop__hdfs__set_balancer_bandwidth_response_proto)                                         \
    X(getDataEncryptionKey, hadoop__hdfs__get_data_encryption_key_request_proto,                   \
      hadoop__hdfs__get_data_encryption_key_response_proto)                                        \
    X(createSnapshot, hadoop__hdfs__create_snapshot_request_proto,                                 \
      hadoop__hdfs__create_snapshot_response_proto)                                                \
    X(renameSnapshot, hadoop__hdfs__rename_snapshot_request_proto,                                 \
      hadoop__hdfs__rename_snapshot_response_proto)                                                \
    X(allowSnapshot, hadoop__hdfs__allow_snapshot_request_proto,                                   \
      hadoop__hdfs__allow_snapshot_response_proto)                                                 \
    X(disallowSnapshot, hadoop__hdfs__disallow_snapshot_request_proto,                             \
      hadoop__hdfs__disallow_snapshot_response_proto)                                              \
    X(getSnapshottableDirListing, hadoop__hdfs__get_snapshottable_dir_listing_request_proto,       \
      hadoop__hdfs__get_snapshottable_dir_listing_response_proto)                                  \
    X(getSnapshotListing, hadoop__hdfs__get_snapshot_listing_request_proto,                        \
      hadoop__hdfs__get_snapshot_listing_response_proto)                                           \
    X(deleteSnapshot, hadoop__hdfs__delete_snapshot_request_proto,                                 \
      hadoop__hdfs__delete_snapshot_response_proto)                                                \
    X(getSnapshotDiffReport, hadoop__hdfs__get_snapshot_diff_report_request_proto,                 \
      hadoop__hdfs__get_snapshot_diff_report_response_proto)                                       \
    X(getSnapshotDiffReportListing, hadoop__hdfs__get_snapshot_diff_report_listing_request_proto,  \
      hadoop__hdfs__get_snapshot_diff_report_listing_response_proto)                               \
    X(isFileClosed, hadoop__hdfs__is_file_closed_request_proto,                                    \
      hadoop__hdfs__is_file_closed_response_proto)                                                 \
    X(modifyAclEntries, hadoop__hdfs__modify_acl_entries_request_proto,                            \
      hadoop__hdfs__modify_acl_entries_response_proto)                                             \
    X(removeAclEntries, hadoop__hdfs__remove_acl_entries_request_proto,                            \
      hadoop__hdfs__remove_acl_entries_response_proto)                                             \
    X(removeDefaultAcl, hadoop__hdfs__remove_default_acl_request_proto,                            \
      hadoop__hdfs__remove_default_acl_response_proto)                                             \
    X(removeAcl, hadoop__hdfs__remove_acl_request_proto, hadoop__hdfs__remove_acl_response_proto)  \
    X(setAcl, hadoop__hdfs__set_acl_request_proto, hadoop__hdfs__set_acl_response_proto)           \
    X(getAclStatus, hadoop__hdfs__get_acl_status_request_proto,                                    \
      hadoop__hdfs__get_acl_status_response_proto)                                                 \
    X(setXAttr, hadoop__hdfs__set_xattr_request_proto, hadoop__hdfs__set_xattr_response_proto)     \
    X(getXAttrs, hadoop__hdfs__get_xattrs_request_proto, hadoop__hdfs__get_xattrs_response_proto)  \
    X(listXAttrs, hadoop__hdfs__list_xattrs_request_proto,                                         \
      hadoop__hdfs__list_xattrs_response_proto)                                                    \
    X(removeXAttr, hadoop__hdfs__remove_xattr_request_proto,                                       \
      hadoop__hdfs__remove_xattr_response_proto)                                                   \
    X(checkAccess, hadoop__hdfs__check_access_request_proto,                                       \
      hadoop__hdfs__check_access_response_proto)                                                   \
    X(createEncryptionZone, hadoop__hdfs__create_encryption_zone_request_proto,                    \
      hadoop__hdfs__create_encryption_zone_response_proto)                                         \
    X(listEncryptionZones, hadoop__hdfs__list_encryption_zones_request_proto,                      \
      hadoop__hdfs__list_encryption_zones_response_proto)                                          \
    X(reencryptEncryptionZone, hadoop__hdfs__reencrypt_encryption_zone_request_proto,              \
      hadoop__hdfs__reencrypt_encryption_zone_response_proto)                                      \
    X(listReencryptionStatus, hadoop__hdfs__list_reencryption_status_request_proto,                \
      hadoop__hdfs__list_reencryption_status_response_proto)                                       \
    X(getEZForPath, hadoop__hdfs__get_ezfor_path_request_proto,                                    \
      hadoop__hdfs__get_ezfor_path_response_proto)                                                 \
    X(setErasureCodingPolicy, hadoop__hdfs__set_erasure_coding_policy_request_proto,               \
      hadoop__hdfs__set_erasure_coding_policy_response_proto)                                      \
    X(unsetErasureCodingPolicy, hadoop__hdfs__unset_erasure_coding_policy_request_proto,           \
      hadoop__hdfs__unset_erasure_coding_policy_response_proto)                                    \
    X(getECTopologyResultForPolicies,                                                              \
      hadoop__hdfs__get_ectopology_result_for_policies_request_proto,                              \
      hadoop__hdfs__get_ectopology_result_for_policies_response_proto)                             \
    X(getCurrentEditLogTxid, hadoop__hdfs__get_current_edit_log_txid_request_proto,                \
      hadoop__hdfs__get_current_edit_log_txid_response_proto)                                      \
    X(getEditsFromTxid, hadoop__hdfs__get_edits_from_txid_request_proto,                           \
      hadoop__hdfs__get_edits_from_txid_response_proto)                                            \
    X(getErasureCodingPolicies, hadoop__hdfs__get_erasure_coding_policies_request_proto,           \
      hadoop__hdfs__get_erasure_coding_policies_response_proto)                                    \
    X(addErasureCodingPolicies, hadoop__hdfs__add_erasure_coding_policies_request_proto,           \
      hadoop__hdfs__add_erasure_coding_policies_response_proto)                                    \
    X(removeErasureCodingPolicy, hadoop__hdfs__remove_erasure_coding_policy_request_proto,         \
      hadoop__hdfs__remove_erasure_coding_policy_response_proto)                                   \
    X(enableErasureCodingPolicy, hadoop__hdfs__enable_erasure_coding_policy_request_proto,         \
      hadoop__hdfs__enable_erasure_coding_policy_response_proto)                                   \
    X(disableErasureCodingPolicy, hadoop__hdfs__disable_erasure_coding_policy_request_proto,       \
      hadoop__hdfs__disable_erasure_coding_policy_response_proto)                                  \
    X(getErasureCodingPolicy, hadoop__hdfs__get_erasure_coding_policy_request_proto,               \
      hadoop__hdfs__get_erasure_coding_policy_response_proto)                                      \
    X(getErasureCodingCodecs, hadoop__hdfs__get_erasure_coding_codecs_request_proto,               \
      hadoop__hdfs__get_erasure_coding_codecs_response_proto)                                      \
    X(getQuotaUsage, hadoop__hdfs__get_quota_usage_request_proto,                                  \
      hadoop__hdfs__get_quota_usage_response_proto)                                                \
    X(listOpenFiles, hadoop__hdfs__list_open_files_request_proto,                                  \
      hadoop__hdfs__list_open_files_response_proto)                                                \
    X(msync, hadoop__hdfs__msync_request_proto, hadoop__hdfs__msync_response_proto)                \
    X(satisfyStoragePolicy, hadoop__hdfs__satisfy_storage_policy_request_proto,                    \
      hadoop__hdfs__satisfy_storage_policy_response_proto)                                         \
    X(getHAServiceState, hadoop__hdfs__haservice_state_request_proto,                              \
      hadoop__hdfs__haservice_state_response_proto)                                                \
    X(getSlowDatanodeReport, hadoop__hdfs__get_slow_datanode_report_request_proto,                 \
      hadoop__hdfs__get_slow_datanode_report_response_proto)                                       \
    X(getEnclosingRoot, hadoop__hdfs__get_enclosing_root_request_proto,                            \
      hadoop__hdfs__get_enclosing_root_response_proto)

/* Client → DataNode's IPC port. */
#define HDFS_CLIENT_DATANODE_PROTOCOL "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol"
#define HDFS_CLIENT_DATANODE_METHODS(X)                                                            \
    X(getReplicaVisibleLength, hadoop__hdfs__get_replica_visible_length_request_proto,             \
      hadoop__hdfs__get_replica_visible_length_response_proto)                                     \
    X(refreshNamenodes, hadoop__hdfs__refresh_namenodes_request_proto,                             \
      hadoop__hdfs__refresh_namenodes_response_proto)                                              \
    X(deleteBlockPool, hadoop__hdfs__delete_block_pool_request_proto,                              \
      hadoop__hdfs__delete_block_pool_response_proto)                                              \
    X(getBlockLocalPathInfo, hadoop__hdfs__get_block_local_path_info_request_proto,                \
      hadoop__hdfs__get_block_local_path_info_response_proto)                                      \
    X(shutdownDatanode, hadoop__hdfs__shutdown_datanode_request_proto,                             \
      hadoop__hdfs__shutdown_datanode_response_proto)                                              \
    X(evictWriters, hadoop__hdfs__evict_writers_request_proto,                                     \
      hadoop__hdfs__evict_writers_response_proto)                                                  \
    X(getDatanodeInfo, hadoop__hdfs__get_datanode_info_request_proto,                              \
      hadoop__hdfs__get_datanode_info_response_proto)                                              \
    X(getVolumeReport, hadoop__hdfs__get_volume_report_request_proto,                              \
      hadoop__hdfs__get_volume_report_response_proto)                                              \
    X(getReconfigurationStatus, hadoop__hdfs__get_reconfiguration_status_request_proto,            \
      hadoop__hdfs__get_reconfiguration_status_response_proto)                                     \
    X(startReconfiguration, hadoop__hdfs__start_reconfiguration_request_proto,                     \
      hadoop__hdfs__start_reconfiguration_response_proto)                                          \
    X(listReconfigurableProperties, hadoop__hdfs__list_reconfigurable_properties_request_proto,    \
      hadoop__hdfs__list_reconfigurable_properties_response_proto)                                 \
    X(triggerBlockReport, hadoop__hdfs__trigger_block_report_request_proto,                        \
      hadoop__hdfs__trigger_block_report_response_proto)                                           \
    X(getBalancerBandwidth, hadoop__hdfs__get_balancer_bandwidth_request_proto,                    \
      hadoop__hdfs__get_balancer_bandwidth_response_proto)                                         \
    X(submitDiskBalancerPlan, hadoop__hdfs__submit_disk_balancer_plan_request_proto,               \
      hadoop__hdfs__submit_disk_balancer_plan_response_proto)                                      \
    X(cancelDiskBalancerPlan, hadoop__hdfs__cancel_plan_request_proto,                             \
      hadoop__hdfs__cancel_plan_response_proto)                                                    \
    X(queryDiskBalancerPlan, hadoop__hdfs__query_plan_status_request_proto,                        \
      hadoop__hdfs__query_plan_status_response_proto)                                              \
    X(getDiskBalancerSetting, hadoop__hdfs__disk_balancer_setting_request_proto,                   \
      hadoop__hdfs__disk_balancer_setting_response_proto)

/* Operator → NameNode or DataNode. */
#define HDFS_RECONFIGURATION_PROTOCOL "org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol"
#define HDFS_RECONFIGURATION_METHODS(X)                                                            \
    X(getReconfigurationStatus, hadoop__hdfs__get_reconfiguration_status_request_proto,            \
      hadoop__hdfs__get_reconfiguration_status_response_proto)                                     \
    X(startReconfiguration, hadoop__hdfs__start_reconfiguration_request_proto,                     \
      hadoop__hdfs__start_reconfiguration_response_proto)                                          \
    X(listReconfigurableProperties, hadoop__hdfs__list_reconfigurable_properties_request_proto,    \
      hadoop__hdfs__list_reconfigurable_properties_response_proto)

#endif
