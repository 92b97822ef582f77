// Hadoop's own reader and writer of aggregated logs (TFile).
//
//   AggregatedLogs read URI...              prints of each file "owner USER", "acl RIGHT LIST", then for each container
//                                           "container ID" and "file LENGTH SHA256 NAME", at the end "end"
//   AggregatedLogs write PATH CODEC DIR CONTAINER...  aggregates DIR/application_…/CONTAINER
//   AggregatedLogs path USER NODE APP       where Hadoop looks for the file, by its configuration
import java.io.DataInputStream;
import java.io.EOFException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationAccessType;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogKey;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogReader;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogValue;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogWriter;
import org.apache.hadoop.yarn.logaggregation.filecontroller.LogAggregationFileControllerFactory;

public class AggregatedLogs {
  static void files(DataInputStream in) throws Exception {
    byte[] buf = new byte[65536];
    while (true) {
      String name;
      try {
        name = in.readUTF();
      } catch (EOFException e) {
        return;
      }
      long length = Long.parseLong(in.readUTF());
      MessageDigest sum = MessageDigest.getInstance("SHA-256");
      for (long left = length; left > 0; ) {
        int n = in.read(buf, 0, (int) Math.min(left, buf.length));
        if (n < 0) {
          throw new EOFException(name);
        }
        sum.update(buf, 0, n);
        left -= n;
      }
      StringBuilder hex = new StringBuilder();
      for (byte b : sum.digest()) {
        hex.append(String.format("%02x", b));
      }
      System.out.println("file " + length + " " + hex + " " + name);
    }
  }

  static void read(Configuration conf, String uri) throws Exception {
    LogReader reader = new LogReader(conf, new Path(uri));
    System.out.println("owner " + reader.getApplicationOwner());
    for (Map.Entry<ApplicationAccessType, String> acl : new TreeMap<>(reader.getApplicationAcls()).entrySet()) {
      System.out.println("acl " + acl.getKey() + " " + acl.getValue());
    }
    LogKey key = new LogKey();
    for (DataInputStream in = reader.next(key); in != null; key = new LogKey(), in = reader.next(key)) {
      System.out.println("container " + key);
      files(in);
    }
    reader.close();
    System.out.println("end");
  }

  static void write(Configuration conf, String path, String codec, String dir, String[] containers) throws Exception {
    conf.set(YarnConfiguration.NM_LOG_AGG_COMPRESSION_TYPE, codec);
    UserGroupInformation user = UserGroupInformation.getCurrentUser();
    LogWriter writer = new LogWriter();
    writer.initialize(conf, new Path(path), user);
    writer.writeApplicationOwner(user.getShortUserName());
    writer.writeApplicationACLs(Collections.singletonMap(ApplicationAccessType.VIEW_APP, "*"));
    for (String id : containers) {
      ContainerId container = ContainerId.fromString(id);
      writer.append(new LogKey(container), new LogValue(Collections.singletonList(dir), container, user.getShortUserName()));
    }
    writer.close();
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = new YarnConfiguration();
    if (args[0].equals("read")) {
      for (String uri : Arrays.copyOfRange(args, 1, args.length)) {
        read(conf, uri);
      }
    } else if (args[0].equals("write")) {
      write(conf, args[1], args[2], args[3], Arrays.copyOfRange(args, 4, args.length));
    } else {
      System.out.println(new LogAggregationFileControllerFactory(conf).getFileControllerForWrite()
          .getRemoteNodeLogFileForApp(ApplicationId.fromString(args[3]), args[1], NodeId.fromString(args[2])));
    }
  }
}
