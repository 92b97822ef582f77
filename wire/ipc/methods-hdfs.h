/* HDFS's client protocol, like wire/ipc/methods.h for YARN: its name on the wire, and the methods
 * used by hdfs/ with their messages. They are in a separate archive, $(WIRE_HDFS_A), linked before
 * $(WIRE_A). Compared with a real Hadoop by tests/interop/test-proto-facts. Its version is 1. */
#ifndef SELVEDGE_WIRE_IPC_METHODS_HDFS_H
#define SELVEDGE_WIRE_IPC_METHODS_HDFS_H

#include "proto/hdfs.pb-c.h"
#include "proto/hdfs_namenode.pb-c.h"
#include "proto/security.pb-c.h"

/* Client → NameNode. */
#define HDFS_CLIENT_PROTOCOL "org.apache.hadoop.hdfs.protocol.ClientProtocol"
#define HDFS_CLIENT_METHODS(X)                                                                     \
    X(getBlockLocations, hadoop__hdfs__get_block_locations_request_proto,                          \
      hadoop__hdfs__get_block_locations_response_proto)                                            \
    X(getServerDefaults, hadoop__hdfs__get_server_defaults_request_proto,                          \
      hadoop__hdfs__get_server_defaults_response_proto)                                            \
    X(getDataEncryptionKey, hadoop__hdfs__get_data_encryption_key_request_proto,                   \
      hadoop__hdfs__get_data_encryption_key_response_proto)                                        \
    X(create, hadoop__hdfs__create_request_proto, hadoop__hdfs__create_response_proto)             \
    X(setPermission, hadoop__hdfs__set_permission_request_proto,                                   \
      hadoop__hdfs__set_permission_response_proto)                                                 \
    X(setOwner, hadoop__hdfs__set_owner_request_proto, hadoop__hdfs__set_owner_response_proto)     \
    X(abandonBlock, hadoop__hdfs__abandon_block_request_proto,                                     \
      hadoop__hdfs__abandon_block_response_proto)                                                  \
    X(addBlock, hadoop__hdfs__add_block_request_proto, hadoop__hdfs__add_block_response_proto)     \
    X(complete, hadoop__hdfs__complete_request_proto, hadoop__hdfs__complete_response_proto)       \
    X(reportBadBlocks, hadoop__hdfs__report_bad_blocks_request_proto,                              \
      hadoop__hdfs__report_bad_blocks_response_proto)                                              \
    X(rename2, hadoop__hdfs__rename2_request_proto, hadoop__hdfs__rename2_response_proto)          \
    X(delete, hadoop__hdfs__delete_request_proto, hadoop__hdfs__delete_response_proto)             \
    X(mkdirs, hadoop__hdfs__mkdirs_request_proto, hadoop__hdfs__mkdirs_response_proto)             \
    X(getListing, hadoop__hdfs__get_listing_request_proto,                                         \
      hadoop__hdfs__get_listing_response_proto)                                                    \
    X(renewLease, hadoop__hdfs__renew_lease_request_proto,                                         \
      hadoop__hdfs__renew_lease_response_proto)                                                    \
    X(getFileInfo, hadoop__hdfs__get_file_info_request_proto,                                      \
      hadoop__hdfs__get_file_info_response_proto)                                                  \
    X(getDelegationToken, hadoop__common__get_delegation_token_request_proto,                      \
      hadoop__common__get_delegation_token_response_proto)                                         \
    X(renewDelegationToken, hadoop__common__renew_delegation_token_request_proto,                  \
      hadoop__common__renew_delegation_token_response_proto)                                       \
    X(cancelDelegationToken, hadoop__common__cancel_delegation_token_request_proto,                \
      hadoop__common__cancel_delegation_token_response_proto)

#endif
