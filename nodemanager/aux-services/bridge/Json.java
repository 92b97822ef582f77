import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON of the NodeManager's frames: objects, lists, texts, integers (Long), true, false, null. */
final class Json {
    private static final int DEPTH_MAX = 16;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json j = new Json(text);
        Object value = j.value(0);

        j.skip();
        if (j.at != text.length()) {
            throw j.wrong();
        }
        return value;
    }

    static String quote(String s) {
        StringBuilder b = new StringBuilder("\"");

        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                b.append(String.format("\\u%04x", Character.isSurrogate(c) ? '?' : (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("JSON: unexpected at " + at);
    }

    private void skip() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char next() {
        if (at == text.length()) {
            throw wrong();
        }
        return text.charAt(at++);
    }

    private boolean take(String word) {
        skip();
        if (!text.startsWith(word, at)) {
            return false;
        }
        at += word.length();
        return true;
    }

    private void need(String word) {
        if (!take(word)) {
            throw wrong();
        }
    }

    private Object value(int depth) {
        if (depth > DEPTH_MAX) {
            throw wrong();
        }
        if (take("{")) {
            return object(depth);
        }
        if (take("[")) {
            return list(depth);
        }
        if (take("\"")) {
            return string();
        }
        if (take("true")) {
            return Boolean.TRUE;
        }
        if (take("false")) {
            return Boolean.FALSE;
        }
        return take("null") ? null : number();
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> map = new LinkedHashMap<>();

        if (take("}")) {
            return map;
        }
        do {
            need("\"");
            String name = string();
            need(":");
            map.put(name, value(depth + 1));
        } while (take(","));
        need("}");
        return map;
    }

    private List<Object> list(int depth) {
        List<Object> list = new ArrayList<>();

        if (take("]")) {
            return list;
        }
        do {
            list.add(value(depth + 1));
        } while (take(","));
        need("]");
        return list;
    }

    private Long number() {
        int start = at;

        while (at < text.length() && "-0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        if (start == at) {
            throw wrong();
        }
        return Long.valueOf(text.substring(start, at));
    }

    private String string() {
        StringBuilder b = new StringBuilder();

        for (char c = next(); c != '"'; c = next()) {
            b.append(c == '\\' ? escaped(next()) : c);
        }
        return b.toString();
    }

    private char escaped(char c) {
        int i = "\"\\/bfnrt".indexOf(c);

        if (i >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(i);
        }
        if (c != 'u' || at + 4 > text.length()) {
            throw wrong();
        }
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }
}
