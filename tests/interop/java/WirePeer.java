// Hadoop's own IPC classes facing the wire room, driven by tests/interop/test-wire.
//
//   WirePeer simple PORT               an ApplicationClientProtocol client, SIMPLE
//   WirePeer token PORT KEY-ID FLIP    a ContainerManagementProtocol client with an NMToken; FLIP is
//                                      exclusive-ored into the password's first byte
//   WirePeer serve                     a ContainerManagementProtocol server that wants NMTokens;
//                                      prints "ready PORT" and ends with its standard input
//   WirePeer tokens DIR                writes golden files: identifiers, passwords, credentials
//   WirePeer credentials FILE          prints what a token file holds
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileInputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.security.PrivilegedExceptionAction;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.SecretManager;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationReportRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetClusterMetricsRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesResponse;
import org.apache.hadoop.yarn.api.protocolrecords.GetNewApplicationRequest;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.LogAggregationContext;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.security.ContainerTokenIdentifier;
import org.apache.hadoop.yarn.security.NMTokenIdentifier;
import org.apache.hadoop.yarn.server.api.ContainerType;

public class WirePeer {
  static final byte[] KEY = {1, 2, 3, 4, 5, 6, 7, (byte) 0x88};
  static final ApplicationId APP = ApplicationId.newInstance(1700000000123L, 42);
  static final ApplicationAttemptId ATTEMPT = ApplicationAttemptId.newInstance(APP, 3);

  static byte[] mac(String algorithm, byte[] id) throws Exception {
    Mac m = Mac.getInstance(algorithm);
    m.init(new SecretKeySpec(KEY, algorithm));
    return m.doFinal(id);
  }

  static String why(Throwable e) {
    return e.getClass().getName() + ": " + String.valueOf(e.getMessage()).split("\n")[0];
  }

  // ---- Clients ----

  static void simple(int port) throws Exception {
    Configuration conf = new Configuration();
    UserGroupInformation user = UserGroupInformation.createRemoteUser("gustav");
    user.doAs((PrivilegedExceptionAction<Void>) () -> {
      ApplicationClientProtocol p = (ApplicationClientProtocol) YarnRPC.create(conf).getProxy(
          ApplicationClientProtocol.class, new InetSocketAddress("127.0.0.1", port), conf);
      System.out.println("metrics " + p.getClusterMetrics(GetClusterMetricsRequest.newInstance())
          .getClusterMetrics().getNumNodeManagers());
      try {
        p.getApplicationReport(GetApplicationReportRequest.newInstance(APP));
      } catch (Exception e) {
        System.out.println("report " + why(e));
      }
      try {
        p.getNewApplication(GetNewApplicationRequest.newInstance());
      } catch (Exception e) {
        System.out.println("unserved " + why(e));
      }
      long before = System.nanoTime();
      for (int i = 0; i < 2000; i++) {
        p.getClusterMetrics(GetClusterMetricsRequest.newInstance());
      }
      System.out.println("calls 2000 in " + (System.nanoTime() - before) / 1000000 + " ms");
      return null;
    });
  }

  static void token(int port, int keyId, int flip) throws Exception {
    Configuration conf = new Configuration();
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", port);
    NMTokenIdentifier id =
        new NMTokenIdentifier(ATTEMPT, NodeId.newInstance("127.0.0.1", port), "alice", keyId);
    byte[] password = mac("HmacSHA1", id.getBytes());
    password[0] ^= (byte) flip;
    Token<NMTokenIdentifier> token =
        new Token<>(id.getBytes(), password, id.getKind(), SecurityUtil.buildTokenService(address));
    UserGroupInformation user = UserGroupInformation.createRemoteUser(ATTEMPT.toString());
    user.addToken(token);
    user.doAs((PrivilegedExceptionAction<Void>) () -> {
      ContainerManagementProtocol p = (ContainerManagementProtocol) YarnRPC.create(conf).getProxy(
          ContainerManagementProtocol.class, address, conf);
      try {
        GetContainerStatusesResponse r = p.getContainerStatuses(GetContainerStatusesRequest.newInstance(
            Collections.singletonList(ContainerId.newContainerId(ATTEMPT, 7))));
        System.out.println("ok " + r.getContainerStatuses().get(0).getState() + " "
            + r.getContainerStatuses().get(0).getDiagnostics());
      } catch (Exception e) {
        System.out.println(why(e));
      }
      return null;
    });
  }

  // ---- Server ----

  static class Secrets extends SecretManager<NMTokenIdentifier> {
    @Override
    protected byte[] createPassword(NMTokenIdentifier id) {
      return createPassword(id.getBytes(), createSecretKey(KEY));
    }

    @Override
    public byte[] retrievePassword(NMTokenIdentifier id) {
      return createPassword(id);
    }

    @Override
    public NMTokenIdentifier createIdentifier() {
      return new NMTokenIdentifier();
    }
  }

  static void serve() throws Exception {
    Configuration conf = new Configuration();
    conf.set("hadoop.security.authentication", "simple");
    conf.set("hadoop.security.authorization", "false");
    // Hadoop's NodeManager too lets nobody in without a token (ContainerManagerImpl.serviceStart).
    Configuration tokenOnly = new Configuration(conf);
    tokenOnly.set("hadoop.security.authentication", "TOKEN");
    Object impl = Proxy.newProxyInstance(WirePeer.class.getClassLoader(),
        new Class<?>[] {ContainerManagementProtocol.class}, (self, method, args) -> {
          GetContainerStatusesRequest r = (GetContainerStatusesRequest) args[0];
          ContainerStatus s = ContainerStatus.newInstance(r.getContainerIds().get(0),
              ContainerState.RUNNING, UserGroupInformation.getCurrentUser().getUserName(), 0);
          return GetContainerStatusesResponse.newInstance(Collections.singletonList(s), null);
        });
    Server server = YarnRPC.create(tokenOnly).getServer(ContainerManagementProtocol.class, impl,
        new InetSocketAddress("127.0.0.1", 0), tokenOnly, new Secrets(), 2);
    server.start();
    System.out.println("ready " + server.getListenerAddress().getPort());
    while (System.in.read() >= 0) {
      continue;
    }
    server.stop();
  }

  // ---- Golden files: tests/golden/token/NAME.hex ----

  static void hex(String dir, String name, byte[] bytes) throws Exception {
    try (PrintStream out = new PrintStream(dir + "/" + name + ".hex")) {
      for (int i = 0; i < bytes.length; i++) {
        out.printf("%02x%s", bytes[i], i % 32 == 31 || i == bytes.length - 1 ? "\n" : "");
      }
    }
  }

  static byte[] written(Writable w) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    w.write(new DataOutputStream(out));
    return out.toByteArray();
  }

  static Credentials credentials(NMTokenIdentifier nm, AMRMTokenIdentifier am) throws Exception {
    Credentials c = new Credentials();
    byte[] secret = new byte[300];
    for (int i = 0; i < secret.length; i++) {
      secret[i] = (byte) i;
    }
    c.addToken(new Text("127.0.0.1:8041"), new Token<>(nm.getBytes(), mac("HmacSHA1", nm.getBytes()),
        nm.getKind(), new Text("127.0.0.1:8041")));
    c.addToken(new Text(""), new Token<>(am.getBytes(), mac("HmacSHA1", am.getBytes()), am.getKind(),
        new Text("h\u00e4st:8030")));
    c.addSecretKey(new Text("MapReduceShuffleToken"), secret);
    c.addSecretKey(new Text("empty"), new byte[0]);
    return c;
  }

  // Hadoop 2 has no constructor with allocation ids and tags, and must compile this too.
  static ContainerTokenIdentifier containerToken(Object... args) throws Exception {
    for (Constructor<?> made : ContainerTokenIdentifier.class.getConstructors()) {
      if (made.getParameterCount() == args.length) {
        return (ContainerTokenIdentifier) made.newInstance(args);
      }
    }
    throw new UnsupportedOperationException("a ContainerTokenIdentifier of this version");
  }

  static void tokens(String dir) throws Exception {
    ContainerTokenIdentifier c = containerToken(
        ContainerId.newContainerId(ATTEMPT, (17L << 40) | 7), 1, "node1.example.com:8041", "alice",
        Resource.newInstance(2048, 3), 1700000600000L, -123456789, 1700000000123L,
        Priority.newInstance(5), 1700000000500L, LogAggregationContext.newInstance("inc.*", "exc"),
        "gpu", ContainerType.APPLICATION_MASTER, ExecutionType.OPPORTUNISTIC, 99L,
        new HashSet<>(Arrays.asList("tag-a", "tag-b")));
    NMTokenIdentifier nm =
        new NMTokenIdentifier(ATTEMPT, NodeId.newInstance("node1.example.com", 8041), "alice", 77);
    AMRMTokenIdentifier am = new AMRMTokenIdentifier(ATTEMPT, -5);
    hex(dir, "container-token-id", c.getBytes());
    hex(dir, "nm-token-id", nm.getBytes());
    hex(dir, "amrm-token-id", am.getBytes());
    for (String a : new String[] {"HmacSHA1", "HmacSHA224", "HmacSHA256", "HmacSHA384", "HmacSHA512"}) {
      hex(dir, "nm-token-password-" + a, mac(a, nm.getBytes()));
    }
    hex(dir, "token-writable", written(new Token<>(nm.getBytes(), mac("HmacSHA1", nm.getBytes()),
        nm.getKind(), new Text("127.0.0.1:8041"))));
    // Hadoop 2 knows one format and no name for it.
    Class<?> formats = Class.forName("org.apache.hadoop.security.Credentials$SerializedFormat");
    for (Object f : formats.getEnumConstants()) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      Credentials.class.getMethod("writeTokenStorageToStream", DataOutputStream.class, formats)
          .invoke(credentials(nm, am), new DataOutputStream(out), f);
      hex(dir, "credentials-" + f.toString().toLowerCase(), out.toByteArray());
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new Credentials().writeTokenStorageToStream(new DataOutputStream(out));
    hex(dir, "credentials-empty", out.toByteArray());
    out.reset();
    for (long v : new long[] {0, 1, -1, 127, 128, -112, -113, -128, -129, 255, 256, 65535, 65536,
        16777215, 16777216, Integer.MAX_VALUE, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE,
        1L << 40, -(1L << 40)}) {
      WritableUtils.writeVLong(new DataOutputStream(out), v);
    }
    hex(dir, "vlongs", out.toByteArray());
  }

  static void read(String file) throws Exception {
    Credentials c = new Credentials();
    try (DataInputStream in = new DataInputStream(new FileInputStream(file))) {
      c.readTokenStorageStream(in);
    }
    System.out.println("tokens " + c.numberOfTokens() + " secrets " + c.numberOfSecretKeys());
    for (Token<?> t : c.getAllTokens()) {
      System.out.println(t.getKind() + " " + t.getService() + " " + t.getIdentifier().length + " "
          + t.getPassword().length);
    }
  }

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "simple": simple(Integer.parseInt(args[1])); break;
      case "token": token(Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3])); break;
      case "serve": serve(); break;
      case "tokens": tokens(args[1]); break;
      case "credentials": read(args[1]); break;
      default: throw new IllegalArgumentException(args[0]);
    }
    System.exit(0);
  }
}
