import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryLocalPathHandler;

/** Apache's ShuffleHandler by itself, without a NodeManager around it, for bench-shuffle: ShuffleServe LOCALDIR USER
 * APPLICATION-ID TOKEN [KEY=VALUE]... Prints "ready PORT" and ends with its standard input. */
public class ShuffleServe {
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("yarn.nodemanager.local-dirs", args[0]);
    for (int i = 4; i < args.length; i++) {
      String[] pair = args[i].split("=", 2);
      conf.set(pair[0], pair[1]);
    }
    ShuffleHandler handler = new ShuffleHandler();
    handler.setAuxiliaryLocalPathHandler(new OneDirectory(args[0]));
    handler.init(conf);
    handler.start();
    handler.initializeApplication(new ApplicationInitializationContext(args[1], ApplicationId.fromString(args[2]),
        ByteBuffer.wrap(Base64.getDecoder().decode(args[3]))));
    System.out.println("ready " + handler.getMetaData().getInt());
    System.out.flush();
    while (System.in.read() >= 0) {
    }
    System.exit(0);
  }

  /** What the NodeManager gives its services: paths in its local directories, of which there is one. */
  private static class OneDirectory implements AuxiliaryLocalPathHandler {
    private final Path root;

    OneDirectory(String root) {
      this.root = new Path(root);
    }

    public Path getLocalPathForRead(String path) {
      return new Path(root, path);
    }

    public Iterable<Path> getAllLocalPathsForRead(String path) {
      return Collections.singletonList(new Path(root, path));
    }

    public Path getLocalPathForWrite(String path) {
      return new Path(root, path);
    }

    public Path getLocalPathForWrite(String path, long size) {
      return new Path(root, path);
    }
  }
}
