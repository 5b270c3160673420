/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP requests through libcurl, one at a time. No connection is used twice: servers that announce
 * keep-alive and close after a stream make every reused connection a gamble. No proxy and no
 * redirect is followed. Lua never jumps through libcurl: the callback runs protected and its error
 * is raised once the transfer is taken down. Every wait ends when a signal asks for it. */
#include "ppl.h"

#include <string.h>

#include <curl/curl.h>

#include "host.h"
#include "pairperf/cancel.h"

#define TRANSFER_TYPE "pairperf.http.transfer"
#define USER_AGENT "pairperf"
#define MAX_SECONDS 86400.0
#define DEFAULT_SECONDS 15.0

typedef struct transfer {
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers;
    lua_State *L;
    int on_data;    /* stack index of the callback, 0: the body is dropped */
    bool head_only; /* the first byte of the body ends the transfer */
    bool raised;    /* the callback's error lies on top of the stack */
    bool aborted;   /* the callback returned false, or head_only */
    lua_Integer bytes;
    char message[CURL_ERROR_SIZE];
} transfer;

typedef struct chunk {
    const char *bytes;
    size_t size;
    int64_t t_ns;
} chunk;

static int l_transfer_close(lua_State *L) {
    transfer *t = luaL_checkudata(L, 1, TRANSFER_TYPE);
    if (t->multi && t->easy)
        curl_multi_remove_handle(t->multi, t->easy);
    if (t->easy)
        curl_easy_cleanup(t->easy);
    if (t->multi)
        curl_multi_cleanup(t->multi);
    curl_slist_free_all(t->headers);
    t->easy = NULL;
    t->multi = NULL;
    t->headers = NULL;
    return 0;
}

static void close_transfer(lua_State *L, int index) {
    lua_pushcfunction(L, l_transfer_close);
    lua_pushvalue(L, index);
    lua_call(L, 1, 0);
}

/* on_data, chunk -> whatever on_data returned; called protected, since pushing may raise, too */
static int call_on_data(lua_State *L) {
    const chunk *part = lua_touserdata(L, 2);
    lua_settop(L, 1);
    lua_pushlstring(L, part->bytes, part->size);
    lua_pushinteger(L, part->t_ns);
    lua_call(L, 2, 1);
    return 1;
}

static size_t on_body(char *bytes, size_t one, size_t size, void *opaque) {
    (void)one;
    transfer *t = opaque;
    t->bytes += (lua_Integer)size;
    t->aborted = t->head_only;
    if (t->aborted)
        return 0;
    if (!t->on_data || size == 0)
        return size;

    pp_now now = { 0 };
    (void)pp_host_now(&now, NULL);
    chunk part = { bytes, size, now.t_ns };
    lua_State *L = t->L;
    lua_pushcfunction(L, call_on_data);
    lua_pushvalue(L, t->on_data);
    lua_pushlightuserdata(L, &part);
    if (lua_pcall(L, 2, 1, 0) != LUA_OK) {
        t->raised = true;
        return 0;
    }
    t->aborted = lua_isboolean(L, -1) && !lua_toboolean(L, -1);
    lua_pop(L, 1);
    return t->aborted ? 0 : size;
}

static long check_ms(lua_State *L, int arg, const char *field, lua_Number fallback) {
    lua_Number seconds = ppl_opt_number(L, arg, field, fallback);
    if (!(seconds > 0 && seconds <= MAX_SECONDS))
        luaL_argerror(L, arg, lua_pushfstring(L, "field '%s' must be 0 to 86400 seconds", field));
    long ms = (long)(seconds * 1000);
    return ms > 0 ? ms : 1; /* 0 would mean: no limit */
}

static bool set_up(transfer *t, const char *url, long timeout_ms, long connect_timeout_ms) {
    static bool global;
    global = global || curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    t->easy = global ? curl_easy_init() : NULL;
    t->multi = global ? curl_multi_init() : NULL;
    if (!t->easy || !t->multi)
        return false;
    CURL *easy = t->easy;
    return curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_USERAGENT, USER_AGENT) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->message) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, t) == CURLE_OK;
}

static bool add_header(transfer *t, const char *line) {
    struct curl_slist *longer = curl_slist_append(t->headers, line);
    if (longer)
        t->headers = longer;
    return longer != NULL;
}

static bool set_request(transfer *t, const char *body, size_t size, char *const *headers) {
    bool ok = add_header(t, "Expect:"); /* no 100-continue round trip */
    for (; ok && *headers; headers++)
        ok = add_header(t, *headers);
    ok = ok && curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers) == CURLE_OK;
    if (!ok || !body)
        return ok;
    return curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size) == CURLE_OK &&
           curl_easy_setopt(t->easy, CURLOPT_COPYPOSTFIELDS, body) == CURLE_OK;
}

static pp_status status_of(CURLcode code) {
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return PP_E_TIMEOUT;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
        return PP_E_INVALID;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
        return PP_E_SYS;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        return PP_E_CLOSED;
    case CURLE_OUT_OF_MEMORY:
        return PP_E_NOMEM;
    default:
        return PP_E_PROTOCOL;
    }
}

static pp_status fail_transfer(transfer *t, CURLcode code, pp_error *reterr) {
    long sys_errno = 0;
    if (code == CURLE_COULDNT_CONNECT)
        curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &sys_errno);
    return pp_fail(reterr, status_of(code), (int)sys_errno, "http", "%s",
                   t->message[0] ? t->message : curl_easy_strerror(code));
}

/* True and *ret_code when the transfer is over. */
static bool finished(transfer *t, CURLcode *ret_code) {
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(t->multi, &left));) {
        if (message->msg == CURLMSG_DONE) {
            *ret_code = message->data.result;
            return true;
        }
    }
    return false;
}

/* Drives the transfer to its end. What the callback did is not a failure here. */
static pp_status drive(transfer *t, pp_error *reterr) {
    if (curl_multi_add_handle(t->multi, t->easy) != CURLM_OK)
        return pp_fail(reterr, PP_E_NOMEM, 0, "http", "no transfer handle");
    for (;;) {
        int running;
        CURLMcode multi = curl_multi_perform(t->multi, &running);
        CURLcode code;
        if (multi == CURLM_OK && finished(t, &code)) {
            if (code == CURLE_OK || t->raised || t->aborted)
                return PP_OK;
            return fail_transfer(t, code, reterr);
        }
        if (pp_cancel_requested(NULL))
            return pp_fail(reterr, PP_E_CANCELLED, 0, "http", "a signal asked to stop");
        struct curl_waitfd cancel = { .fd = pp_cancel_fd(), .events = CURL_WAIT_POLLIN };
        if (multi == CURLM_OK)
            multi = curl_multi_poll(t->multi, &cancel, cancel.fd >= 0 ? 1 : 0, 1000, NULL);
        if (multi != CURLM_OK)
            return pp_fail(reterr, PP_E_SYS, 0, "http", "%s", curl_multi_strerror(multi));
    }
}

static void push_answer(lua_State *L, transfer *t) {
    long status = 0;
    char *type = NULL;
    double total_s = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
    curl_easy_getinfo(t->easy, CURLINFO_TOTAL_TIME, &total_s);
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, status);
    lua_setfield(L, -2, "status");
    lua_pushstring(L, type);
    lua_setfield(L, -2, "content_type");
    lua_pushnumber(L, total_s);
    lua_setfield(L, -2, "total_s");
    lua_pushinteger(L, t->bytes);
    lua_setfield(L, -2, "bytes");
    lua_pushboolean(L, t->aborted);
    lua_setfield(L, -2, "aborted");
}

static int no_memory(lua_State *L) {
    pp_error err;
    pp_fail(&err, PP_E_NOMEM, 0, "http", "libcurl has no memory");
    return ppl_push_failure(L, &err);
}

static int l_http_stream(lua_State *L) {
    static const char *const names[] = { "url",       "headers",           "body", "on_data",
                                         "timeout_s", "connect_timeout_s", NULL };
    enum { OPTIONS = 1, HEADERS, ON_DATA, HANDLE };
    lua_settop(L, OPTIONS);
    ppl_check_fields(L, OPTIONS, names);
    const char *url = ppl_need_string(L, OPTIONS, "url");
    const char *body = ppl_opt_string(L, OPTIONS, "body", NULL);
    long timeout_ms = check_ms(L, OPTIONS, "timeout_s", DEFAULT_SECONDS);
    long connect_ms = check_ms(L, OPTIONS, "connect_timeout_s", (lua_Number)timeout_ms / 1000);
    char **headers = ppl_string_list(L, OPTIONS, "headers", NULL);
    lua_getfield(L, OPTIONS, "on_data");
    if (!lua_isnoneornil(L, ON_DATA))
        luaL_checktype(L, ON_DATA, LUA_TFUNCTION);

    transfer *t = ppl_new_handle(L, sizeof *t, TRANSFER_TYPE);
    t->L = L;
    t->on_data = lua_isnil(L, ON_DATA) ? 0 : ON_DATA;
    if (!set_up(t, url, timeout_ms, connect_ms) ||
        !set_request(t, body, body ? strlen(body) : 0, headers))
        return no_memory(L);

    pp_error err;
    pp_status status = drive(t, &err);
    if (status == PP_OK && !t->raised)
        push_answer(L, t);
    close_transfer(L, HANDLE);
    if (t->raised)
        return lua_error(L);
    return status == PP_OK ? 1 : ppl_push_failure(L, &err);
}

/* The option table of status() and connect(), which may be left out. */
static long check_timeout(lua_State *L, int arg) {
    static const char *const names[] = { "timeout_s", NULL };
    if (lua_isnoneornil(L, arg))
        return (long)(DEFAULT_SECONDS * 1000);
    ppl_check_fields(L, arg, names);
    return check_ms(L, arg, "timeout_s", DEFAULT_SECONDS);
}

static int l_http_status(lua_State *L) {
    const char *url = ppl_check_text(L, 1);
    long timeout_ms = check_timeout(L, 2);

    transfer *t = ppl_new_handle(L, sizeof *t, TRANSFER_TYPE);
    int handle = lua_gettop(L);
    t->head_only = true;
    char *const no_headers[] = { NULL };
    if (!set_up(t, url, timeout_ms, timeout_ms) || !set_request(t, NULL, 0, no_headers))
        return no_memory(L);

    pp_error err;
    pp_status status = drive(t, &err);
    long answer = 0;
    if (status == PP_OK)
        curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &answer);
    close_transfer(L, handle);
    if (status != PP_OK)
        return ppl_push_failure(L, &err);
    lua_pushinteger(L, answer);
    return 1;
}

static int l_http_connect(lua_State *L) {
    const char *host = ppl_check_text(L, 1);
    lua_Integer port = luaL_checkinteger(L, 2);
    luaL_argcheck(L, port >= 1 && port <= 65535, 2, "a TCP port is 1 to 65535");
    long timeout_ms = check_timeout(L, 3);
    const char *url = lua_pushfstring(L, "http://%s:%I", host, (LUAI_UACINT)port);

    transfer *t = ppl_new_handle(L, sizeof *t, TRANSFER_TYPE);
    int handle = lua_gettop(L);
    if (!set_up(t, url, timeout_ms, timeout_ms) ||
        curl_easy_setopt(t->easy, CURLOPT_CONNECT_ONLY, 1L) != CURLE_OK)
        return no_memory(L);

    pp_error err;
    pp_status status = drive(t, &err);
    close_transfer(L, handle);
    return ppl_push_result(L, status, &err);
}

int ppl_open_http(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "connect", l_http_connect },
        { "status", l_http_status },
        { "stream", l_http_stream },
        { NULL, NULL },
    };
    static const luaL_Reg methods[] = { { NULL, NULL } };
    ppl_handle_type(L, TRANSFER_TYPE, methods, l_transfer_close);
    luaL_newlib(L, functions);
    return 1;
}
