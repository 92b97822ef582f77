import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.key.KeyProvider;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.ha.HAServiceProtocol.RequestSource;
import org.apache.hadoop.ha.HAServiceProtocol.StateChangeRequestInfo;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * A real NameNode, and a client that prepares files on it: reads a command a line from standard input, answers a line
 * each. Ends with standard input. The DataNodes are processes of their own; driven by tests/interop/hdfs.py. With the
 * argument "formatted" it takes the directories as they are.
 */
public final class HdfsCluster {
  private static final int COPY = 1 << 16;
  private final List<FSDataOutputStream> open = new ArrayList<>();
  private final Configuration conf = new HdfsConfiguration();
  private final NameNode namenode;
  private final DistributedFileSystem fs;

  private HdfsCluster(boolean formatted) throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true); // formatting has registered some already
    if (!formatted) {
      NameNode.format(conf);
    }
    namenode = NameNode.createNameNode(new String[0], conf);
    FileSystem.enableSymlinks();
    fs = (DistributedFileSystem) FileSystem.get(conf);
  }

  /** Names of the files below a directory. */
  private String list(Path path) throws IOException {
    List<String> names = new ArrayList<>();
    RemoteIterator<LocatedFileStatus> files = fs.listFiles(path, true);
    while (files.hasNext()) {
      names.add(files.next().getPath().getName());
    }
    return String.join(" ", names);
  }

  /** A job's parts, one after the other, as a local file. */
  private String parts(Path dir, String to) throws IOException {
    try (OutputStream out = Files.newOutputStream(new File(to).toPath())) {
      for (FileStatus part : fs.globStatus(new Path(dir, "part-*"))) { // in the order of their names
        try (InputStream in = fs.open(part.getPath())) {
          IOUtils.copyBytes(in, out, COPY);
        }
      }
    }
    return "done";
  }

  /** "TIME LENGTH" of a path. */
  private String status(Path path) throws Exception {
    FileStatus s = fs.getFileStatus(path);
    return s.getModificationTime() + " " + s.getLen();
  }

  private String put(String from, Path to, long blockSize, short replicas, String owner, String mode) throws Exception {
    try (InputStream in = Files.newInputStream(new File(from).toPath());
        OutputStream out = fs.create(to, true, COPY, replicas, blockSize)) {
      byte[] buffer = new byte[COPY];
      for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
        out.write(buffer, 0, n);
      }
    } catch (LinkageError e) { // Hadoop 2 frees an encrypted stream by a class that Java 17 lacks: the file is complete
      if (fs.getFileStatus(to).getLen() != new File(from).length()) {
        throw e;
      }
    }
    fs.setOwner(to, owner, null);
    fs.setPermission(to, new FsPermission(Short.parseShort(mode, 8)));
    return status(to);
  }

  /** Files 0, 1, … of `size` bytes that begin with their number, in ten directories; sixteen at a time. */
  private String many(String dir, int count, int size) throws Exception {
    IntStream.range(0, 16).mapToObj(first -> {
      Thread writer = new Thread(() -> {
        for (int i = first; i < count; i += 16) {
          try (OutputStream out = fs.create(new Path(dir + "/" + i % 10 + "/" + i))) {
            out.write(String.format("%-" + size + "d", i).getBytes("US-ASCII"));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }
      });
      writer.start();
      return writer;
    }).collect(Collectors.toList()).forEach(writer -> {
      try {
        writer.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    });
    return "done";
  }

  /** "BLOCK@ADDRESS:PORT,ADDRESS:PORT BLOCK@…" */
  private String blocks(String path) throws Exception {
    StringBuilder text = new StringBuilder();
    for (LocatedBlock b : fs.getClient().getLocatedBlocks(path, 0, Long.MAX_VALUE).getLocatedBlocks()) {
      List<String> nodes = new ArrayList<>();
      for (DatanodeInfo d : b.getLocations()) {
        nodes.add(d.getIpAddr() + ":" + d.getXferPort());
      }
      text.append(b.getBlock().getBlockName()).append('@').append(String.join(",", nodes)).append(' ');
    }
    return text.toString().trim();
  }

  /** A file that is never closed: its last block is under construction. */
  private String hold(Path path) throws Exception {
    FSDataOutputStream out = fs.create(path);
    open.add(out);
    out.write(new byte[1000]);
    out.hflush();
    return status(path);
  }

  private String encryptionZone(Path dir) throws Exception {
    KeyProvider keys = namenode.getNamesystem().getProvider();
    keys.createKey("key", KeyProvider.options(conf).setBitLength(128));
    keys.flush();
    fs.mkdirs(dir);
    fs.createEncryptionZone(dir, "key");
    return "done";
  }

  /** By reflection: Hadoop 2 has no erasure coding. */
  private String erasureCoded(Path dir, String policy) throws Exception {
    DistributedFileSystem.class.getMethod("enableErasureCodingPolicy", String.class).invoke(fs, policy);
    fs.mkdirs(dir);
    DistributedFileSystem.class.getMethod("setErasureCodingPolicy", Path.class, String.class).invoke(fs, dir, policy);
    return "done";
  }

  /** With Kerberos the NameNode's own ticket stands for every user: hadoop.proxyuser. */
  private static UserGroupInformation as(String user) throws IOException {
    return UserGroupInformation.isSecurityEnabled()
        ? UserGroupInformation.createProxyUser(user, UserGroupInformation.getLoginUser())
        : UserGroupInformation.createRemoteUser(user);
  }

  /** The NameNode's; with a KMS there is one of the KMS, too. */
  private static Token<?> ofNameNode(Credentials credentials) {
    return credentials.getAllTokens().stream().filter(t -> t.getKind().toString().equals("HDFS_DELEGATION_TOKEN")).findFirst().get();
  }

  /** Writes a delegation token of the user, as the credentials of a job; its service. */
  private String token(String user, String to) throws Exception {
    Credentials credentials = new Credentials();
    as(user).doAs((PrivilegedExceptionAction<?>) () -> {
      try (FileSystem own = FileSystem.newInstance(conf)) {
        return own.addDelegationTokens("renewer", credentials);
      }
    });
    credentials.writeTokenStorageFile(new Path("file://" + to), conf);
    return ofNameNode(credentials).getService().toString();
  }

  private String cancel(String user, String from) throws Exception {
    Credentials credentials = Credentials.readTokenStorageFile(new File(from), conf);
    as(user).doAs((PrivilegedExceptionAction<Void>) () -> {
      ofNameNode(credentials).cancel(conf);
      return null;
    });
    return "done";
  }

  /** What LogsCLI's main() does first, since Hadoop 3.4. */
  private static void webServices(Configuration site) throws Exception {
    try {
      Class.forName("org.apache.hadoop.yarn.webapp.util.WebServiceClient").getMethod("initialize", Configuration.class).invoke(null, site);
    } catch (ClassNotFoundException e) {
      return; // an older version
    }
  }

  /** A command line class of Hadoop, or one of ours, in this JVM: USER SITE OUTPUT CLASS ARGUMENT...; SITE: a configuration file or -. */
  private String program(String[] w) throws Exception {
    Configuration site = new YarnConfiguration();
    if (!w[2].equals("-")) {
      site.addResource(new Path("file://" + w[2]));
    }
    String[] args = Arrays.copyOfRange(w, 5, w.length);
    Class<?> type = Class.forName(w[4]);
    PrintStream before = System.out;
    try (PrintStream out = new PrintStream(w[3], "UTF-8")) {
      System.setOut(out);
      return as(w[1]).doAs((PrivilegedExceptionAction<String>) () -> {
        if (Tool.class.isAssignableFrom(type)) { // its main() ends the JVM
          webServices(site);
          Tool tool = (Tool) type.getDeclaredConstructor().newInstance();
          tool.setConf(site);
          return String.valueOf(tool.run(args));
        }
        type.getMethod("main", String[].class).invoke(null, (Object) args);
        return "0";
      });
    } finally {
      System.setOut(before);
    }
  }

  private String run(String[] w) throws Exception {
    switch (w[0]) {
      case "port":
        return namenode.getNameNodeAddress().getPort() + " " + namenode.getHttpAddress().getPort();
      case "live":
        return String.valueOf(namenode.getNamesystem().getNumLiveDataNodes());
      case "many":
        return many(w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3]));
      case "active":
        namenode.getRpcServer().transitionToActive(new StateChangeRequestInfo(RequestSource.REQUEST_BY_USER));
        return "done";
      case "standby":
        namenode.getRpcServer().transitionToStandby(new StateChangeRequestInfo(RequestSource.REQUEST_BY_USER));
        return "done";
      case "put":
        return put(w[1], new Path(w[2]), Long.parseLong(w[3]), Short.parseShort(w[4]), w[5], w[6]);
      case "mkdir":
        fs.mkdirs(new Path(w[1]));
        fs.setPermission(new Path(w[1]), new FsPermission(Short.parseShort(w[2], 8)));
        return "done";
      case "mode":
        return String.format("%o", fs.getFileStatus(new Path(w[1])).getPermission().toShort()) + " "
            + fs.getFileStatus(new Path(w[1])).getOwner();
      case "own":
        fs.setOwner(new Path(w[1]), w[2], null);
        return "done";
      case "safemode":
        namenode.getRpcServer().setSafeMode(w[1].equals("enter") ? SafeModeAction.SAFEMODE_ENTER : SafeModeAction.SAFEMODE_LEAVE, false);
        return "done";
      case "quota": // -1: none
        fs.setQuota(new Path(w[1]), Long.parseLong(w[2]), Long.parseLong(w[3]));
        return "done";
      case "get":
        fs.copyToLocalFile(false, new Path(w[1]), new Path("file://" + w[2]), true);
        return "done";
      case "status":
        return status(new Path(w[1]));
      case "program":
        return program(w);
      case "parts":
        return parts(new Path(w[1]), w[2]);
      case "remove":
        return String.valueOf(fs.delete(new Path(w[1]), true));
      case "list":
        return list(new Path(w[1]));
      case "blocks":
        return blocks(w[1]);
      case "hold":
        return hold(new Path(w[1]));
      case "link":
        fs.createSymlink(new Path(w[1]), new Path(w[2]), true);
        return "done";
      case "token":
        return token(w[1], w[2]);
      case "cancel":
        return cancel(w[1], w[2]);
      case "zone":
        return encryptionZone(new Path(w[1]));
      case "ec":
        return erasureCoded(new Path(w[1]), w[2]);
      default:
        throw new IllegalArgumentException(w[0]);
    }
  }

  public static void main(String[] args) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
      error.printStackTrace();
      System.exit(1);
    });
    PrintStream answers = System.out;
    System.setOut(System.err); // Hadoop 2 prints there when it formats
    HdfsCluster cluster = new HdfsCluster(args.length > 0 && args[0].equals("formatted"));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    answers.println("ready");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      try {
        answers.println("ok " + cluster.run(line.split(" ")));
      } catch (Exception | LinkageError e) { // the caller decides
        e.printStackTrace();
        answers.println("error " + String.valueOf(e).replace('\n', ' '));
      }
    }
    System.exit(0);
  }
}
