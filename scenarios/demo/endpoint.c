/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenAI-compatible endpoint that streams a fixed word, paced by absolute deadlines.
 *
 * One thread per connection (libmicrohttpd's), so a reader may sleep. A stream is a sequence of
 * numbered frames: role, content x max_tokens, finish, usage, [DONE].
 */
#include "demo.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL "pairperf-demo"
#define BODY_MAX 65536
#define TOKENS_MAX 4096
#define TOKENS_DEFAULT 16

static struct MHD_Daemon *server;
static atomic_bool stopping;

typedef struct request {
    char *body;
    size_t size;
    bool too_large;
} request;

typedef struct stream {
    int tokens;
    int next_frame;
    int64_t next_ns;
    char frame[512];
    size_t size, sent;
} stream;

static void format_frame(stream *s) {
    static const char head[] =
        "data: {\"id\":\"chatcmpl-demo\",\"object\":\"chat.completion.chunk\",\"created\":0,"
        "\"model\":\"" MODEL "\",";
    int n = s->next_frame++;
    int length;
    if (n == 0)
        length = snprintf(s->frame, sizeof s->frame,
                          "%s\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","
                          "\"content\":\"\"},\"finish_reason\":null}]}\n\n",
                          head);
    else if (n <= s->tokens)
        length = snprintf(s->frame, sizeof s->frame,
                          "%s\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},"
                          "\"finish_reason\":null}]}\n\n",
                          head);
    else if (n == s->tokens + 1)
        length = snprintf(s->frame, sizeof s->frame,
                          "%s\"choices\":[{\"index\":0,\"delta\":{},"
                          "\"finish_reason\":\"length\"}]}\n\n",
                          head);
    else if (n == s->tokens + 2)
        length = snprintf(s->frame, sizeof s->frame,
                          "%s\"choices\":[],\"usage\":{\"prompt_tokens\":8,"
                          "\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n",
                          head, s->tokens, s->tokens + 8);
    else
        length = snprintf(s->frame, sizeof s->frame, "data: [DONE]\n\n");
    s->size = (size_t)length;
    s->sent = 0;
}

static ssize_t read_stream(void *cls, uint64_t pos, char *buffer, size_t capacity) {
    (void)pos;
    stream *s = cls;
    if (atomic_load(&stopping))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (s->sent == s->size) {
        if (s->next_frame > s->tokens + 3)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (s->next_frame >= 1 && s->next_frame <= s->tokens) {
            s->next_ns += DEMO_TOKEN_MS * DEMO_NS_PER_MS;
            demo_sleep_until(s->next_ns);
        }
        format_frame(s);
    }
    size_t part = s->size - s->sent;
    if (part > capacity)
        part = capacity;
    memcpy(buffer, s->frame + s->sent, part);
    s->sent += part;
    return (ssize_t)part;
}

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
                                     const char *type, struct MHD_Response *response) {
    if (!response)
        return MHD_NO;
    enum MHD_Result result = MHD_add_response_header(response, "Content-Type", type);
    if (result == MHD_YES)
        result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_json(struct MHD_Connection *connection, unsigned status,
                                 const char *text) {
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    return send_response(connection, status, "application/json", response);
}

static enum MHD_Result send_stream(struct MHD_Connection *connection, int tokens) {
    stream *s = calloc(1, sizeof *s);
    if (!s)
        return MHD_NO;
    s->tokens = tokens;
    s->next_ns = demo_clock_ns(CLOCK_MONOTONIC);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, read_stream, s, free);
    if (!response)
        free(s);
    return send_response(connection, MHD_HTTP_OK, "text/event-stream", response);
}

/* The asked-for number of tokens, or 0 when the body is no streaming request. */
static int parse_tokens(const request *r) {
    json_t *root = json_loadb(r->body, r->size, 0, NULL);
    int tokens = 0;
    if (json_is_true(json_object_get(root, "stream"))) {
        json_t *asked = json_object_get(root, "max_tokens");
        json_int_t n = asked ? json_integer_value(asked) : TOKENS_DEFAULT;
        tokens = n >= 1 && n <= TOKENS_MAX ? (int)n : 0;
    }
    json_decref(root);
    return tokens;
}

static enum MHD_Result answer(struct MHD_Connection *connection, const char *method,
                              const char *url, const request *r) {
    if (strcmp(url, "/v1/models") == 0 && strcmp(method, "GET") == 0)
        return send_json(connection, MHD_HTTP_OK,
                         "{\"object\":\"list\",\"data\":[{\"id\":\"" MODEL
                         "\",\"object\":\"model\",\"created\":0,\"owned_by\":\"pairperf\"}]}");
    if (strcmp(url, "/v1/chat/completions") != 0 || strcmp(method, "POST") != 0)
        return send_json(connection, MHD_HTTP_NOT_FOUND,
                         "{\"error\":{\"message\":\"not found\",\"type\":\"not_found_error\"}}");
    int tokens = r->too_large ? 0 : parse_tokens(r);
    if (tokens == 0)
        return send_json(connection, MHD_HTTP_BAD_REQUEST,
                         "{\"error\":{\"message\":\"want stream:true and max_tokens 1..4096\","
                         "\"type\":\"invalid_request_error\"}}");
    return send_stream(connection, tokens);
}

static void keep_body(request *r, const char *bytes, size_t size) {
    char *grown = size <= BODY_MAX - r->size ? realloc(r->body, r->size + size) : NULL;
    if (!grown) {
        r->too_large = true;
        return;
    }
    memcpy(grown + r->size, bytes, size);
    r->body = grown;
    r->size += size;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state) {
    (void)cls;
    (void)version;
    request *r = *state;
    if (!r) { /* the headers are there, a body may follow */
        *state = calloc(1, sizeof *r);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*upload_size > 0) {
        keep_body(r, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    return answer(connection, method, url, r);
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode why) {
    (void)cls;
    (void)connection;
    (void)why;
    request *r = *state;
    if (r)
        free(r->body);
    free(r);
    *state = NULL;
}

bool demo_endpoint_start(uint16_t *ret_port) {
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0,
                              NULL, NULL, on_request, NULL, MHD_OPTION_SOCK_ADDR, &address,
                              MHD_OPTION_CONNECTION_LIMIT, 16U, MHD_OPTION_CONNECTION_TIMEOUT, 10U,
                              MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
    if (!server)
        return false;
    const union MHD_DaemonInfo *bound = MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT);
    if (!bound)
        return false;
    *ret_port = bound->port;
    return true;
}

void demo_endpoint_stop(void) {
    if (!server)
        return;
    atomic_store(&stopping, true);
    MHD_stop_daemon(server);
    server = NULL;
}
