import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.client.RMDelegationTokenIdentifier;
import org.apache.hadoop.yarn.util.ConverterUtils;

/**
 * Gets delegation tokens of a ResourceManager, connects with them, renews and cancels them, with Hadoop's own client
 * classes. Prints "CASE TAB result" a line: the result, or the exception at the bottom with its message.
 *
 * <p>Usage: DelegationProbe before|after FILE. "before" writes the text form of two tokens to the file, the first one
 * valid, the second one cancelled, for "after" to use them.
 */
public final class DelegationProbe {
    private final Configuration conf = new YarnConfiguration();

    private interface Action<T> {
        T run() throws Exception;
    }

    private static void say(String name, Action<Object> action) {
        String result;
        try {
            result = String.valueOf(action.run());
        } catch (Exception e) {
            Throwable t = e;
            while (t.getCause() != null) {
                t = t.getCause();
            }
            result = t.getClass().getName() + ": " + String.valueOf(t.getMessage()).split("\n")[0];
        }
        System.out.println(name + "\t" + result.replaceAll("[0-9]{13}", "TIME").replaceAll("[0-9-]{10} [0-9:,+]{12,}", "DATE"));
    }

    private static <T> T as(String user, Token<?> token, Action<T> action) throws Exception {
        UserGroupInformation ugi = UserGroupInformation.createRemoteUser(user);
        if (token != null) {
            ugi.addToken(token);
        }
        return ugi.doAs((PrivilegedExceptionAction<T>) action::run);
    }

    private Token<RMDelegationTokenIdentifier> get(String renewer) throws Exception {
        YarnClient yarn = YarnClient.createYarnClient();
        yarn.init(conf);
        yarn.start();
        try {
            return ConverterUtils.convertFromYarn(yarn.getRMDelegationToken(new Text(renewer)),
                ClientRMProxy.getRMDelegationTokenService(conf));
        } finally {
            yarn.stop();
        }
    }

    private Object nodes() throws Exception {
        YarnClient yarn = YarnClient.createYarnClient();
        yarn.init(conf);
        yarn.start();
        try {
            return yarn.getYarnClusterMetrics().getNumNodeManagers();
        } finally {
            yarn.stop();
        }
    }

    /** When the token ends, as a share of its life: 1/7 is Hadoop's default. */
    private Object renew(Token<RMDelegationTokenIdentifier> token) throws Exception {
        RMDelegationTokenIdentifier id = token.decodeIdentifier();
        long ends = token.renew(conf);
        double share = (ends - id.getIssueDate()) * 7.0 / (id.getMaxDate() - id.getIssueDate());
        return share >= 1 && share < 1.01 ? "a day" : "until " + ends;
    }

    private Object cancel(Token<RMDelegationTokenIdentifier> token) throws Exception {
        token.cancel(conf);
        return "cancelled";
    }

    private static String shown(Token<RMDelegationTokenIdentifier> token) throws Exception {
        RMDelegationTokenIdentifier id = token.decodeIdentifier();
        return token.getKind() + " " + id.getOwner() + " " + id.getRenewer() + " [" + id.getRealUser() + "] "
            + (id.getMaxDate() - id.getIssueDate()) / 3600000 + " hours, " + token.getPassword().length + " bytes";
    }

    private void before(Path file) throws Exception {
        Token<RMDelegationTokenIdentifier> first = as("ann", null, () -> get("rob"));
        Token<RMDelegationTokenIdentifier> second = as("ann", null, () -> get("rob"));
        Token<RMDelegationTokenIdentifier> none = as("ann", null, () -> get(""));
        say("get", () -> shown(first));
        say("use", () -> as("holder", first, this::nodes));
        say("get by its holder", () -> shown(as("holder", first, () -> get("rob"))));
        byte[] wrong = first.getPassword().clone();
        wrong[0] ^= 1;
        Token<RMDelegationTokenIdentifier> forged =
            new Token<>(first.getIdentifier(), wrong, first.getKind(), first.getService());
        say("renew by its renewer", () -> as("rob", null, () -> renew(first)));
        say("renew by its owner", () -> as("ann", null, () -> renew(first)));
        say("renew without renewer", () -> as("ann", null, () -> renew(none)));
        say("renew a forged one", () -> as("rob", null, () -> renew(forged)));
        say("cancel by a stranger", () -> as("eve", null, () -> cancel(first)));
        say("cancel by its owner", () -> as("ann", null, () -> cancel(second)));
        say("cancel again", () -> as("ann", null, () -> cancel(second)));
        say("renew a cancelled one", () -> as("rob", null, () -> renew(second)));
        say("use a cancelled one", () -> as("holder", second, this::nodes));
        List<String> lines = new ArrayList<>();
        Collections.addAll(lines, first.encodeToUrlString(), second.encodeToUrlString());
        Files.write(file, lines, StandardCharsets.US_ASCII);
    }

    private void after(Path file) throws Exception {
        List<Token<RMDelegationTokenIdentifier>> tokens = new ArrayList<>();
        for (String line : Files.readAllLines(file, StandardCharsets.US_ASCII)) {
            Token<RMDelegationTokenIdentifier> token = new Token<>();
            token.decodeFromUrlString(line);
            tokens.add(token);
        }
        say("restart: use", () -> as("holder", tokens.get(0), this::nodes));
        say("restart: use a cancelled one", () -> as("holder", tokens.get(1), this::nodes));
        say("restart: renew", () -> as("rob", null, () -> renew(tokens.get(0))));
        say("restart: cancel by its renewer", () -> as("rob", null, () -> cancel(tokens.get(0))));
        say("restart: use it then", () -> as("holder", tokens.get(0), this::nodes));
    }

    public static void main(String[] args) throws Exception {
        DelegationProbe probe = new DelegationProbe();
        Path file = new File(args[1]).toPath();
        if (args[0].equals("before")) {
            probe.before(file);
        } else {
            probe.after(file);
        }
        System.out.println("end\t" + args[0]);
    }
}
