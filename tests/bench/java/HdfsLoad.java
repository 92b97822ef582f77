// Hadoop's side of `make bench-krb` at HDFS: reads and writes whole files as alice, with her token and the configuration of
// its class path. Takes a command a line: "read N", the file that the second argument names, or "write N", new files of as
// many bytes beside it. Answered by a line of JSON: bytes, seconds and this process's processor time. Its twin is
// tests/bench/hdfs-load.c.
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.security.PrivilegedExceptionAction;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;

public final class HdfsLoad {
  private static final int COPY = 1 << 17; // as the native client's
  private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private final byte[] buffer = new byte[COPY];
  private final FileSystem fs;
  private final Path path;
  private final long length;
  private int written;

  private HdfsLoad(FileSystem fs, Path path) throws Exception {
    this.fs = fs;
    this.path = path;
    length = fs.getFileStatus(path).getLen();
  }

  private void read() throws Exception {
    long left = length;
    try (InputStream in = fs.open(path)) {
      for (int n; (n = in.read(buffer)) > 0;) {
        left -= n;
      }
    }
    if (left != 0) {
      throw new IllegalStateException(left + " bytes are missing");
    }
  }

  private void write() throws Exception {
    try (OutputStream out = fs.create(path.suffix("-java" + written++))) {
      for (long left = length; left > 0;) {
        int n = (int) Math.min(left, buffer.length);
        out.write(buffer, 0, n);
        left -= n;
      }
    }
  }

  private String run(String[] words) throws Exception {
    int n = Integer.parseInt(words[1]);
    long start = System.nanoTime();
    long cpu = process.getProcessCpuTime();
    for (int i = 0; i < n; i++) {
      if (words[0].equals("read")) {
        read();
      } else {
        write();
      }
    }
    return String.format(Locale.ROOT, "{\"bytes\": %d, \"seconds\": %.4f, \"cpu\": %.4f}", n * length,
        (System.nanoTime() - start) / 1e9, (process.getProcessCpuTime() - cpu) / 1e9);
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = new HdfsConfiguration();
    UserGroupInformation.setConfiguration(conf);
    UserGroupInformation alice = UserGroupInformation.createRemoteUser("alice");
    alice.addCredentials(Credentials.readTokenStorageFile(new File(args[0]), conf));
    Path path = new Path(args[1]);
    HdfsLoad load = alice.doAs((PrivilegedExceptionAction<HdfsLoad>) () -> new HdfsLoad(path.getFileSystem(conf), path));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(load.run(line.split(" ")));
    }
    System.exit(0);
  }
}
