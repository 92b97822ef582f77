import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.StringUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ReservationId;
import org.apache.hadoop.yarn.api.records.impl.pb.ApplicationSubmissionContextPBImpl;
import org.apache.hadoop.yarn.federation.proto.YarnServerFederationProtos.ApplicationHomeSubClusterProto;
import org.apache.hadoop.yarn.federation.proto.YarnServerFederationProtos.SubClusterInfoProto;
import org.apache.hadoop.yarn.proto.YarnProtos.ApplicationSubmissionContextProto;
import org.apache.hadoop.yarn.security.client.RMDelegationTokenIdentifier;
import org.apache.hadoop.yarn.server.federation.store.FederationStateStore;
import org.apache.hadoop.yarn.server.federation.store.impl.SQLFederationStateStore;
import org.apache.hadoop.yarn.server.federation.store.impl.ZookeeperFederationStateStore;
import org.apache.hadoop.yarn.server.federation.store.records.*;
import org.apache.hadoop.yarn.server.federation.store.utils.FederationStateStoreUtils;
import org.apache.zookeeper.ZooKeeper;

/**
 * Hadoop's stores of a federation by commands on standard input, the same as those of store-peer.c:
 * a line each, words between blanks, "-" for none. An answer is lines and then a line ".".
 * Arguments: JDBC's class, url, account, password; or "zookeeper", servers, parent path, split index.
 */
public class StorePeer {
  private static FederationStateStore store;
  private static ZooKeeper nodes;
  private static String top;
  private static String[] words;

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration(false);
    if (args[0].equals("zookeeper")) {
      conf.set("hadoop.zk.address", args[1]);
      conf.set("yarn.federation.zk-state-store.parent-path", args[2]);
      conf.set("yarn.resourcemanager.zk-appid-node.split-index", args[3]);
      top = args[2];
      nodes = new ZooKeeper(args[1], 10000, event -> { });
      store = new ZookeeperFederationStateStore();
    } else {
      conf.set("yarn.federation.state-store.sql.jdbc-class", args[0]);
      conf.set("yarn.federation.state-store.sql.url", args[1]);
      conf.set("yarn.federation.state-store.sql.username", args[2]);
      conf.set("yarn.federation.state-store.sql.password", args[3]);
      conf.setInt("yarn.federation.state-store.sql.max-connections", 4);
      store = new SQLFederationStateStore();
    }
    store.init(conf);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    java.io.PrintStream out = new java.io.PrintStream(System.out, true, "UTF-8");
    for (String line; (line = in.readLine()) != null;) {
      words = line.split(" ");
      String answer;
      try {
        answer = execute(words[0]);
      } catch (Exception e) {
        answer = error(e);
      }
      out.print(answer.isEmpty() || answer.endsWith("\n") ? answer : answer + "\n");
      out.println(".");
    }
    System.exit(0);
  }

  /** As our store names it. */
  private static String error(Exception e) {
    String text = String.valueOf(e.getMessage());
    if (text.contains("does not exist") || text.contains("not found")
        || text.contains("not exists")) {
      return "ENOENT";
    }
    return text.contains("Wrong behavior during the insertion") ? "EEXIST"
        : e + " " + e.getCause();
  }

  private static String word(int i) {
    return words[i].equals("-") ? null : words[i];
  }

  private static byte[] bytes(int i) {
    return word(i) == null ? new byte[0] : StringUtils.hexStringToByte(words[i]);
  }

  private static String hex(ByteBuffer b) {
    byte[] p = new byte[b == null ? 0 : b.remaining()];
    if (b != null) {
      b.duplicate().get(p);
    }
    return p.length == 0 ? " none" : " " + StringUtils.byteToHexString(p);
  }

  private static SubClusterId member(int i) {
    return SubClusterId.newInstance(words[i]);
  }

  private static String shown(SubClusterInfo m) {
    return m == null ? "ENOENT"
        : String.join(" ", m.getSubClusterId().getId(), m.getAMRMServiceAddress(),
            m.getClientRMServiceAddress(), m.getRMAdminServiceAddress(),
            m.getRMWebServiceAddress(), m.getState().toString(), "" + m.getLastStartTime(),
            m.getCapability());
  }

  private static SubClusterInfo get(int i) throws Exception {
    GetSubClusterInfoResponse found =
        store.getSubCluster(GetSubClusterInfoRequest.newInstance(member(i)));
    return found == null ? null : found.getSubClusterInfo();
  }

  private static String sorted(List<String> lines) {
    Collections.sort(lines);
    return String.join("\n", lines);
  }

  private static ApplicationHomeSubCluster home() throws Exception {
    ApplicationSubmissionContext context = word(3) == null ? null
        : new ApplicationSubmissionContextPBImpl(
            ApplicationSubmissionContextProto.parseFrom(bytes(3)));
    return ApplicationHomeSubCluster.newInstance(ApplicationId.fromString(words[1]), member(2),
        context);
  }

  private static ReservationId reservation(int i) throws Exception {
    return ReservationId.parseReservationId(words[i]);
  }

  private static String shown(SubClusterPolicyConfiguration p) {
    return p.getQueue() + " " + p.getType() + hex(p.getParams());
  }

  private static RouterMasterKeyRequest key(long expiry, byte[] secret) {
    return RouterMasterKeyRequest.newInstance(RouterMasterKey
        .newInstance(Integer.parseInt(words[1]), ByteBuffer.wrap(secret), expiry));
  }

  /** Words: sequence, identifier, text, renewal. */
  private static RouterRMTokenRequest token() throws Exception {
    RMDelegationTokenIdentifier identifier = new RMDelegationTokenIdentifier();
    if (word(2) != null) {
      FederationStateStoreUtils.decodeWritable(identifier,
          Base64.getUrlEncoder().encodeToString(bytes(2)));
    }
    identifier.setSequenceNumber(Integer.parseInt(words[1]));
    return RouterRMTokenRequest.newInstance(
        RouterStoreToken.newInstance(identifier, Long.parseLong(words[4]), words[3]));
  }

  /**
   * Without the bytes of the identifier: what Hadoop 3.4.2 reads of SQL has the renewer as owner
   * (YARNDelegationTokenIdentifierPBImpl), though the row is right.
   */
  private static String shown(RouterStoreToken t) throws Exception {
    return t.getTokenIdentifier().getSequenceNumber() + " " + t.getTokenInfo() + " "
        + t.getRenewDate();
  }

  private static String execute(String command) throws Exception {
    List<String> lines = new ArrayList<>();
    switch (command) {
      case "register":
        store.registerSubCluster(SubClusterRegisterRequest.newInstance(SubClusterInfo.newInstance(
            member(1), words[2], words[3], words[4], words[5],
            SubClusterState.fromString(words[6]), Long.parseLong(words[7]),
            word(8) == null ? "" : words[8])));
        return shown(get(1));
      case "heartbeat":
        store.subClusterHeartbeat(SubClusterHeartbeatRequest.newInstance(member(1),
            SubClusterState.fromString(words[2]), words[3]));
        return "";
      case "deregister":
        store.deregisterSubCluster(SubClusterDeregisterRequest.newInstance(member(1),
            SubClusterState.fromString(words[2])));
        return "";
      case "member":
        return shown(get(1));
      case "age":
        return "" + (System.currentTimeMillis() - get(1).getLastHeartBeat()) / 1000;
      case "members":
        for (SubClusterInfo m : store
            .getSubClusters(GetSubClustersInfoRequest.newInstance(false)).getSubClusters()) {
          lines.add(shown(m));
        }
        return sorted(lines);
      case "add-home":
        return words[1] + " " + store
            .addApplicationHomeSubCluster(AddApplicationHomeSubClusterRequest.newInstance(home()))
            .getHomeSubCluster() + " none";
      case "update-home":
        store.updateApplicationHomeSubCluster(
            UpdateApplicationHomeSubClusterRequest.newInstance(home()));
        return "";
      case "home": {
        ApplicationHomeSubCluster h = store
            .getApplicationHomeSubCluster(GetApplicationHomeSubClusterRequest
                .newInstance(ApplicationId.fromString(words[1]), true))
            .getApplicationHomeSubCluster();
        ApplicationSubmissionContextPBImpl context =
            (ApplicationSubmissionContextPBImpl) h.getApplicationSubmissionContext();
        return h.getApplicationId() + " " + h.getHomeSubCluster()
            + hex(context == null ? null : ByteBuffer.wrap(context.getProto().toByteArray()));
      }
      case "home-age":
        return "" + (System.currentTimeMillis() - store
            .getApplicationHomeSubCluster(GetApplicationHomeSubClusterRequest
                .newInstance(ApplicationId.fromString(words[1])))
            .getApplicationHomeSubCluster().getCreateTime()) / 1000;
      case "homes":
        for (ApplicationHomeSubCluster h : store
            .getApplicationsHomeSubCluster(word(1) == null
                ? GetApplicationsHomeSubClusterRequest.newInstance()
                : GetApplicationsHomeSubClusterRequest.newInstance(member(1)))
            .getAppsHomeSubClusters()) {
          lines.add(h.getApplicationId() + " " + h.getHomeSubCluster() + " none");
        }
        return sorted(lines);
      case "delete-home":
        store.deleteApplicationHomeSubCluster(DeleteApplicationHomeSubClusterRequest
            .newInstance(ApplicationId.fromString(words[1])));
        return "";
      case "add-reservation":
        return words[1] + " " + store
            .addReservationHomeSubCluster(AddReservationHomeSubClusterRequest
                .newInstance(ReservationHomeSubCluster.newInstance(reservation(1), member(2))))
            .getHomeSubCluster();
      case "update-reservation":
        store.updateReservationHomeSubCluster(UpdateReservationHomeSubClusterRequest
            .newInstance(ReservationHomeSubCluster.newInstance(reservation(1), member(2))));
        return "";
      case "reservation":
        return words[1] + " " + store
            .getReservationHomeSubCluster(
                GetReservationHomeSubClusterRequest.newInstance(reservation(1)))
            .getReservationHomeSubCluster().getHomeSubCluster();
      case "reservations":
        for (ReservationHomeSubCluster h : store
            .getReservationsHomeSubCluster(GetReservationsHomeSubClusterRequest.newInstance())
            .getAppsHomeSubClusters()) {
          lines.add(h.getReservationId() + " " + h.getHomeSubCluster());
        }
        return sorted(lines);
      case "delete-reservation":
        store.deleteReservationHomeSubCluster(
            DeleteReservationHomeSubClusterRequest.newInstance(reservation(1)));
        return "";
      case "set-policy":
        store.setPolicyConfiguration(SetSubClusterPolicyConfigurationRequest
            .newInstance(SubClusterPolicyConfiguration.newInstance(words[1], words[2],
                ByteBuffer.wrap(bytes(3)))));
        return "";
      case "policy": {
        GetSubClusterPolicyConfigurationResponse found = store.getPolicyConfiguration(
            GetSubClusterPolicyConfigurationRequest.newInstance(words[1]));
        return found == null ? "ENOENT" : shown(found.getPolicyConfiguration());
      }
      case "policies":
        for (SubClusterPolicyConfiguration p : store
            .getPoliciesConfigurations(
                GetSubClusterPoliciesConfigurationsRequest.newInstance())
            .getPoliciesConfigs()) {
          lines.add(shown(p));
        }
        return sorted(lines);
      case "delete-policy":
        store.deletePoliciesConfigurations(DeleteSubClusterPoliciesConfigurationsRequest
            .newInstance(Collections.singletonList(words[1])));
        return "";
      case "add-key":
        store.storeNewMasterKey(key(Long.parseLong(words[2]), bytes(3)));
        return "";
      case "key": {
        RouterMasterKey k =
            store.getMasterKeyByDelegationKey(key(0, new byte[0])).getRouterMasterKey();
        return k.getKeyId() + " " + k.getExpiryDate() + hex(k.getKeyBytes());
      }
      case "delete-key":
        store.removeStoredMasterKey(key(0, new byte[0]));
        return "";
      case "add-token":
        store.storeNewToken(token());
        return "";
      case "update-token":
        store.updateStoredToken(token());
        return "";
      case "token":
        return shown(store.getTokenByRouterStoreToken(token()).getRouterStoreToken());
      case "delete-token":
        store.removeStoredToken(token());
        return "";
      case "sequence":
        return "" + (words[1].equals("key") ? store.getCurrentKeyId()
            : store.getDelegationTokenSeqNum());
      case "next":
        return "" + (words[1].equals("key") ? store.incrementCurrentKeyId()
            : store.incrementDelegationTokenSeqNum());
      case "set":
        store.setDelegationTokenSeqNum(Integer.parseInt(words[2]));
        return "";
      case "version":
        store.checkVersion();
        return "" + store.loadVersion();
      case "rows":
        return rows(words[1]);
      case "nodes":
        nodes(top + "/" + words[1], lines);
        return sorted(lines);
      default:
        return "no command " + command;
    }
  }

  /** All nodes below one with their values, without the times that their writer sets. */
  private static void nodes(String path, List<String> lines) throws Exception {
    byte[] value = nodes.getData(path, false, null);
    if (value != null && value.length > 0) {
      if (path.contains("/memberships/")) {
        value = SubClusterInfoProto.parseFrom(value).toBuilder().clearLastHeartBeat().build()
            .toByteArray();
      } else if (path.contains("/applications/")) {
        value = ApplicationHomeSubClusterProto.parseFrom(value).toBuilder().clearCreateTime()
            .build().toByteArray();
      }
      lines.add(path.substring(top.length()) + " " + StringUtils.byteToHexString(value));
    }
    for (String child : nodes.getChildren(path, false)) {
      nodes(path + "/" + child, lines);
    }
  }

  /** All rows of a table, without the columns of times that the server sets. */
  private static String rows(String table) throws Exception {
    List<String> lines = new ArrayList<>();
    try (Connection c = ((SQLFederationStateStore) store).getDataSource().getConnection();
        Statement s = c.createStatement();
        ResultSet r = s.executeQuery("SELECT * FROM " + table)) {
      ResultSetMetaData columns = r.getMetaData();
      while (r.next()) {
        StringBuilder line = new StringBuilder();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
          String name = columns.getColumnName(i);
          if (!name.equals("lastHeartBeat") && !name.equals("createTime")) {
            byte[] value = r.getBytes(i);
            line.append(name).append('=')
                .append(value == null ? "NULL" : StringUtils.byteToHexString(value)).append(' ');
          }
        }
        lines.add(line.toString().trim());
      }
    }
    return sorted(lines);
  }
}
