import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** An auxiliary service in Java for the booted machine: it keeps a file and answers on a port, as ShuffleHandler does. */
public final class SampleService {
    static final int PORT = 18563;

    private Path state;
    private ServerSocket server;

    public void setRecoveryPath(Path path) {
        state = path;
    }

    public void init(YarnConfiguration conf) throws IOException {
        Files.write(Paths.get(state.toString(), "sample"), "kept".getBytes(StandardCharsets.UTF_8));
    }

    public void start() throws IOException {
        server = new ServerSocket(PORT, 10, InetAddress.getByName("127.0.0.1"));
        Thread answers = new Thread(this::answer);
        answers.setDaemon(true);
        answers.start();
    }

    private void answer() {
        while (true) {
            try (Socket s = server.accept()) {
                s.getOutputStream().write("from Java".getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                return; // stopped
            }
        }
    }

    public Exception getFailureCause() {
        return null;
    }

    public ByteBuffer getMetaData() {
        return ByteBuffer.wrap("sample".getBytes(StandardCharsets.UTF_8));
    }

    public void stop() throws IOException {
        server.close();
    }
}
