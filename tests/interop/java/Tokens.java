// Hadoop's own tokens and credentials as bytes, driven by tests/interop/test-tokens.
//
//   Tokens write DIR    one file of hexadecimal text for each thing: identifiers, passwords, credentials
//   Tokens read DIR     prints "NAME key=value..." for each file, as Hadoop's classes understand it
//
// tests/interop/token-peer.c does the same with our own code and the same values.
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.security.token.delegation.AbstractDelegationTokenIdentifier;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.LogAggregationContext;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.security.ContainerTokenIdentifier;
import org.apache.hadoop.yarn.security.NMTokenIdentifier;
import org.apache.hadoop.yarn.security.client.ClientToAMTokenIdentifier;
import org.apache.hadoop.yarn.security.client.RMDelegationTokenIdentifier;
import org.apache.hadoop.yarn.security.client.TimelineDelegationTokenIdentifier;
import org.apache.hadoop.yarn.server.api.ContainerType;

public final class Tokens {
  static final byte[] KEY = {1, 2, 3, 4, 5, 6, 7, (byte) 0x88};
  static final ApplicationAttemptId ATTEMPT =
      ApplicationAttemptId.newInstance(ApplicationId.newInstance(1700000000123L, 42), 3);

  private Tokens() {
  }

  static byte[] mac(String algorithm, byte[] id) throws Exception {
    Mac m = Mac.getInstance(algorithm);
    m.init(new SecretKeySpec(KEY, algorithm));
    return m.doFinal(id);
  }

  static byte[] written(Writable w) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    w.write(new DataOutputStream(out));
    return out.toByteArray();
  }

  static String hex(byte[] bytes) {
    StringBuilder s = new StringBuilder();
    for (byte b : bytes) {
      s.append(String.format("%02x", b));
    }
    return s.toString();
  }

  // ---- Writing ----

  static void file(String dir, String name, byte[] bytes) throws Exception {
    try (PrintStream out = new PrintStream(dir + "/" + name + ".hex")) {
      for (int i = 0; i < bytes.length; i++) {
        out.printf("%02x%s", bytes[i], i % 32 == 31 || i == bytes.length - 1 ? "\n" : "");
      }
    }
  }

  // Hadoop 2 has no constructor with allocation ids and tags.
  static ContainerTokenIdentifier containerToken(Object... args) throws Exception {
    for (int n : new int[] {16, 14}) {
      for (Constructor<?> made : ContainerTokenIdentifier.class.getConstructors()) {
        if (made.getParameterCount() == n) {
          return (ContainerTokenIdentifier) made.newInstance(Arrays.copyOf(args, n));
        }
      }
    }
    throw new UnsupportedOperationException("a ContainerTokenIdentifier of this version");
  }

  static <T extends AbstractDelegationTokenIdentifier> T fill(T id) {
    id.setOwner(new Text("alice"));
    id.setRenewer(new Text("yarn"));
    id.setRealUser(new Text("oozie"));
    id.setIssueDate(1700000000500L);
    id.setMaxDate(1700604800500L);
    id.setSequenceNumber(1234567);
    id.setMasterKeyId(89);
    return id;
  }

  static Credentials credentials(TokenIdentifier nm, TokenIdentifier am) throws Exception {
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

  static void write(String dir) throws Exception {
    ContainerTokenIdentifier c = containerToken(
        ContainerId.newContainerId(ATTEMPT, (17L << 40) | 7), 1, "node1.example.com:8041", "alice",
        Resource.newInstance(2048, 3), 1700000600000L, -123456789, 1700000000123L,
        Priority.newInstance(5), 1700000000500L, LogAggregationContext.newInstance("inc.*", "exc"),
        "gpu", ContainerType.APPLICATION_MASTER, ExecutionType.OPPORTUNISTIC, 99L,
        new HashSet<>(Arrays.asList("tag-a", "tag-b")));
    NMTokenIdentifier nm =
        new NMTokenIdentifier(ATTEMPT, NodeId.newInstance("node1.example.com", 8041), "alice", 77);
    AMRMTokenIdentifier am = new AMRMTokenIdentifier(ATTEMPT, -5);
    file(dir, "container-token-id", c.getBytes());
    file(dir, "nm-token-id", nm.getBytes());
    file(dir, "amrm-token-id", am.getBytes());
    file(dir, "client-am-token-id", new ClientToAMTokenIdentifier(ATTEMPT, "alice").getBytes());
    file(dir, "rm-delegation-token-id", fill(new RMDelegationTokenIdentifier()).getBytes());
    file(dir, "timeline-delegation-token-id", fill(new TimelineDelegationTokenIdentifier()).getBytes());
    file(dir, "hdfs-delegation-token-id", fill(new DelegationTokenIdentifier()).getBytes());
    for (String a : new String[] {"HmacSHA1", "HmacSHA224", "HmacSHA256", "HmacSHA384", "HmacSHA512"}) {
      file(dir, "nm-token-password-" + a, mac(a, nm.getBytes()));
    }
    Token<NMTokenIdentifier> token = new Token<>(nm.getBytes(), mac("HmacSHA1", nm.getBytes()), nm.getKind(),
        new Text("127.0.0.1:8041"));
    file(dir, "token-writable", written(token));
    file(dir, "token-text", token.encodeToUrlString().getBytes(StandardCharsets.US_ASCII));
    writeCredentials(dir, nm, am);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (long v : new long[] {0, 1, -1, 127, 128, -112, -113, -128, -129, 255, 256, 65535, 65536,
        16777215, 16777216, Integer.MAX_VALUE, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE,
        1L << 40, -(1L << 40)}) {
      WritableUtils.writeVLong(new DataOutputStream(out), v);
    }
    file(dir, "vlongs", out.toByteArray());
  }

  static void writeCredentials(String dir, TokenIdentifier nm, TokenIdentifier am) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new Credentials().writeTokenStorageToStream(new DataOutputStream(out));
    file(dir, "credentials-empty", out.toByteArray());
    Class<?> formats;
    try {
      formats = Class.forName("org.apache.hadoop.security.Credentials$SerializedFormat");
    } catch (ClassNotFoundException hadoop2) { // one format and no name for it
      out.reset();
      credentials(nm, am).writeTokenStorageToStream(new DataOutputStream(out));
      file(dir, "credentials-writable", out.toByteArray());
      return;
    }
    for (Object f : formats.getEnumConstants()) {
      out.reset();
      Credentials.class.getMethod("writeTokenStorageToStream", DataOutputStream.class, formats)
          .invoke(credentials(nm, am), new DataOutputStream(out), f);
      file(dir, "credentials-" + f.toString().toLowerCase(), out.toByteArray());
    }
  }

  // ---- Reading ----

  static Object get(Object of, String getter) throws Exception {
    try {
      return of.getClass().getMethod(getter).invoke(of);
    } catch (NoSuchMethodException absent) {
      return null; // of a later version
    }
  }

  static void put(Map<String, Object> into, String key, Object value) {
    if (value != null) {
      into.put(key, value);
    }
  }

  static void container(byte[] bytes, Map<String, Object> out) throws Exception {
    ContainerTokenIdentifier t = new ContainerTokenIdentifier();
    t.readFields(stream(bytes));
    put(out, "container", t.getContainerID());
    put(out, "node", t.getNmHostAddress());
    put(out, "user", t.getApplicationSubmitter());
    put(out, "memory", t.getResource().getMemorySize());
    put(out, "vcores", t.getResource().getVirtualCores());
    put(out, "expiry", t.getExpiryTimeStamp());
    put(out, "key", t.getMasterKeyId());
    put(out, "rm", t.getRMIdentifier());
    put(out, "priority", t.getPriority().getPriority());
    put(out, "created", t.getCreationTime());
    put(out, "type", t.getContainerType());
    put(out, "execution", t.getExecutionType());
    put(out, "version", t.getVersion());
    put(out, "request", get(t, "getAllocationRequestId"));
    put(out, "label", t.getNodeLabelExpression());
  }

  static void delegation(AbstractDelegationTokenIdentifier t, byte[] bytes, Map<String, Object> out)
      throws Exception {
    t.readFields(stream(bytes));
    put(out, "owner", t.getOwner());
    put(out, "renewer", t.getRenewer());
    put(out, "real", t.getRealUser());
    put(out, "issued", t.getIssueDate());
    put(out, "max", t.getMaxDate());
    put(out, "sequence", t.getSequenceNumber());
    put(out, "key", t.getMasterKeyId());
  }

  static DataInputStream stream(byte[] bytes) {
    return new DataInputStream(new ByteArrayInputStream(bytes));
  }

  static void read(String name, byte[] bytes, Map<String, Object> out) throws Exception {
    if (name.startsWith("container-token-id")) {
      container(bytes, out);
    } else if (name.startsWith("nm-token-id")) {
      NMTokenIdentifier t = new NMTokenIdentifier();
      t.readFields(stream(bytes));
      put(out, "attempt", t.getApplicationAttemptId());
      put(out, "node", t.getNodeId());
      put(out, "user", t.getApplicationSubmitter());
      put(out, "key", t.getKeyId());
    } else if (name.startsWith("amrm-token-id")) {
      AMRMTokenIdentifier t = new AMRMTokenIdentifier();
      t.readFields(stream(bytes));
      put(out, "attempt", t.getApplicationAttemptId());
      put(out, "key", t.getKeyId());
    } else if (name.startsWith("client-am-token-id")) {
      ClientToAMTokenIdentifier t = new ClientToAMTokenIdentifier();
      t.readFields(stream(bytes));
      put(out, "attempt", t.getApplicationAttemptID());
      put(out, "user", t.getClientName());
    } else if (name.startsWith("rm-delegation")) {
      delegation(new RMDelegationTokenIdentifier(), bytes, out);
    } else if (name.startsWith("timeline-delegation")) {
      delegation(new TimelineDelegationTokenIdentifier(), bytes, out);
    } else if (name.startsWith("hdfs-delegation")) {
      delegation(new DelegationTokenIdentifier(), bytes, out);
    } else if (name.startsWith("credentials")) {
      Credentials c = new Credentials();
      c.readTokenStorageStream(stream(bytes));
      for (Map.Entry<Text, Token<?>> e : tokenMap(c).entrySet()) {
        put(out, "t:" + hex(e.getKey().copyBytes()), hex(written(e.getValue())));
      }
      for (Text alias : c.getAllSecretKeys()) {
        put(out, "s:" + hex(alias.copyBytes()), hex(c.getSecretKey(alias)));
      }
    } else if (name.equals("token-writable")) {
      Token<TokenIdentifier> t = new Token<>();
      t.readFields(stream(bytes));
      put(out, "token", hex(written(t)));
    } else if (name.equals("token-text")) {
      Token<TokenIdentifier> t = new Token<>();
      t.decodeFromUrlString(new String(bytes, StandardCharsets.US_ASCII));
      put(out, "token", hex(written(t)));
    } else {
      put(out, "bytes", hex(bytes));
    }
  }

  // Hadoop 2 has no getter for the map of tokens: uses the aliases of credentials().
  static Map<Text, Token<?>> tokenMap(Credentials c) {
    Map<Text, Token<?>> map = new TreeMap<>();
    for (String alias : new String[] {"127.0.0.1:8041", ""}) {
      Token<?> t = c.getToken(new Text(alias));
      if (t != null) {
        map.put(new Text(alias), t);
      }
    }
    if (map.size() != c.numberOfTokens()) {
      throw new IllegalStateException("tokens with other names");
    }
    return map;
  }

  static void readAll(String dir) throws Exception {
    File[] files = new File(dir).listFiles();
    Arrays.sort(files);
    for (File f : files) {
      String name = f.getName().replace(".hex", "");
      String text = new String(Files.readAllBytes(f.toPath()), StandardCharsets.US_ASCII).replaceAll("\\s", "");
      byte[] bytes = new byte[text.length() / 2];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
      }
      Map<String, Object> found = new TreeMap<>();
      try {
        read(name, bytes, found);
      } catch (Exception e) {
        found.clear();
        put(found, "unreadable", e.getClass().getName());
      }
      StringBuilder line = new StringBuilder(name);
      for (Map.Entry<String, Object> e : found.entrySet()) {
        line.append(' ').append(e.getKey()).append('=').append(e.getValue());
      }
      System.out.println(line);
    }
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("write")) {
      write(args[1]);
    } else {
      readAll(args[1]);
    }
  }
}
