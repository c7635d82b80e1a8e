//! Every code, declared once: what it means, what kind it is, and whether time can cure it.
//!
//! A new one gets a page `docs/errors/CDL-nnnn.md` and a line in the index there; a test insists. No number is
//! used again for something else.

use super::code::{Code, connection, query, usage};

/// The constants, and a list of all of them.
macro_rules! codes {
    ($(pub const $name:ident: Code = $code:expr;)*) => {
        $(pub const $name: Code = $code;)*
        pub const ALL: &[Code] = &[$($name),*];
    };
}

codes! {
    // Files.
    pub const NO_SUCH_FILE: Code = usage("CDL-1001", "no such file");
    pub const FILE_UNREADABLE: Code = usage("CDL-1002", "a file cannot be read");
    pub const FILE_EMPTY: Code = usage("CDL-1003", "an empty file");
    pub const COLUMN_NOT_IN_HEADER: Code = usage("CDL-1004", "a column is not in the header");
    pub const COLUMN_BEYOND_FIELDS: Code = usage("CDL-1005", "a column beyond the last field");
    pub const HEADER_NAME_TWICE: Code = usage("CDL-1006", "a name twice in a header");
    pub const RECORD_TOO_LONG: Code = usage("CDL-1007", "a record that does not end");
    pub const ROW_DOES_NOT_FIT: Code = query("CDL-1008", "a row does not fit, and --strict was given");
    pub const HEADER_NOT_CLOSED: Code = usage("CDL-1009", "a quote in the header is never closed");
    pub const TABLE_WITHOUT_FILES: Code = usage("CDL-1010", "a table without files");
    pub const BAD_DECIMAL: Code = usage("CDL-1011", "an impossible decimal");
    pub const NOT_A_FILE: Code = usage("CDL-1012", "not a regular file");
    pub const FILE_CHANGED: Code = query("CDL-1013", "a file has changed while it was used");
    pub const BAD_DIALECT: Code = usage("CDL-1020", "a mistake in what is said of a file");
    pub const NOT_CSV: Code = usage("CDL-1021", "a file that is not CSV");
    pub const TOO_MUCH_REJECTED: Code = query("CDL-1022", "too many rows of a table do not fit");
    pub const COMPRESSED_DAMAGED: Code = usage("CDL-1040", "compressed data that is damaged or cut off");
    pub const UNPACKS_TO_TOO_MUCH: Code = usage("CDL-1041", "compressed data that makes too much");
    pub const READ_ONLY_ONCE: Code = query("CDL-1042", "a pipe cannot be read a second time");
    pub const FILE_DAMAGED: Code = usage("CDL-1043", "a file that is not what it begins as");
    pub const COLUMN_NOT_TAKEN: Code = usage("CDL-1044", "a column that is not taken");
    pub const FILES_DIFFER: Code = usage("CDL-1045", "files of one table that differ");
    pub const NO_TABLE_IN_FILE: Code = usage("CDL-1046", "a file without a table in it");
    pub const TOO_MANY_COLUMNS: Code = usage("CDL-1047", "a table of too many columns");
    pub const ADDRESS_NOT_TAKEN: Code = usage("CDL-1050", "an address that cannot be one of a table");
    pub const ADDRESS_UNREADABLE: Code = usage("CDL-1051", "an address cannot be read");
    pub const FOLDERS_DIFFER: Code = usage("CDL-1052", "folders that name columns which cannot be");

    // Suites, data and results.
    pub const NO_SUCH_SUITE: Code = usage("CDL-1101", "no such suite");
    pub const MANIFEST_UNREADABLE: Code = usage("CDL-1102", "a suite's manifest cannot be read");
    pub const BAD_MANIFEST: Code = usage("CDL-1103", "a mistake in a manifest");
    pub const UNKNOWN_TYPE: Code = usage("CDL-1104", "an unknown type of a column");
    pub const MANIFEST_NAME_TWICE: Code = usage("CDL-1105", "a name twice in a manifest");
    pub const QUERY_FILE_UNREADABLE: Code = usage("CDL-1106", "a query's file cannot be read");
    pub const NO_SUCH_QUERY: Code = usage("CDL-1107", "no such query in the suite");
    pub const NO_SUCH_PARAMETER: Code = usage("CDL-1108", "no such parameter in the suite");
    pub const WRONG_PARAMETER_TYPE: Code = usage("CDL-1109", "a parameter of the wrong type");
    pub const SUITE_PARAMETER_MISSING: Code = usage("CDL-1110", "a parameter without value or default");
    pub const NO_FILE_FOR_TABLE: Code = usage("CDL-1111", "no file for a table");
    pub const BAD_PATTERN: Code = usage("CDL-1112", "not a file pattern");
    pub const NOT_AN_ASSIGNMENT: Code = usage("CDL-1113", "not of the form name=value");
    pub const FOLDER_UNREADABLE: Code = usage("CDL-1114", "a folder cannot be listed");
    pub const RESULTS_UNREADABLE: Code = usage("CDL-1115", "results cannot be read");
    pub const RESULT_NOT_CSV: Code = usage("CDL-1116", "a result is not CSV");
    pub const NOTHING_EXPECTED: Code = usage("CDL-1117", "nothing is expected");
    pub const BAD_SCALE: Code = usage("CDL-1118", "not a scale");
    pub const DATA_UNWRITABLE: Code = usage("CDL-1119", "generated data cannot be written");
    pub const COLUMN_OF_OTHER_TYPE: Code = usage("CDL-1120", "a column is not of the type that is said of it");
    pub const COLUMNS_NOT_SAID: Code = usage("CDL-1121", "a table of which no columns are said");

    // SQL.
    pub const SYNTAX: Code = query("CDL-2001", "the SQL does not parse");
    pub const UNKNOWN_TABLE: Code = query("CDL-2002", "no such table");
    pub const UNKNOWN_COLUMN: Code = query("CDL-2003", "no such column");
    pub const UNKNOWN_FUNCTION: Code = query("CDL-2004", "no such function");
    pub const NOT_A_SELECT: Code = query("CDL-2005", "not a SELECT");
    pub const VOLATILE: Code = query("CDL-2006", "a value of chance");
    pub const PARAMETER_MISSING: Code = query("CDL-2007", "a parameter without a value");
    pub const INVALID_QUERY: Code = query("CDL-2008", "the SQL makes no sense");
    pub const NOT_DIVISIBLE: Code = query("CDL-2009", "a query cannot be divided into stages");
    pub const TOO_MANY: Code = query("CDL-2010", "too many");
    pub const TABLE_NAME_TWICE: Code = query("CDL-2011", "two tables of one name");
    pub const BAD_SCHEMA: Code = query("CDL-2012", "a schema that is none");
    pub const BAD_START: Code = query("CDL-2013", "a start that is no time");
    pub const PLANNING_TOO_LARGE: Code = query("CDL-2014", "a query takes too much memory to plan");
    pub const PLANNING_TOO_SLOW: Code = query("CDL-2015", "a query takes too long to plan");
    pub const PLANNER_FAILED: Code = query("CDL-2016", "the planner failed");
    pub const WOULD_BE_WRONG: Code = query("CDL-2020", "refused, since the answer would be wrong");
    pub const AMBIGUOUS_NAME: Code = query("CDL-2030", "a name could be one of several");
    pub const NOT_SUPPORTED: Code = query("CDL-2031", "SQL that is not supported");

    // Running a query.
    pub const OUT_OF_MEMORY: Code = query("CDL-3001", "not enough memory");
    pub const DATA: Code = query("CDL-3002", "a query failed on its data");
    pub const CONTRADICTION: Code = query("CDL-3003", "fragments that contradict each other");
    pub const OVERFLOW: Code = query("CDL-3004", "a number does not fit into its type");
    pub const FUNCTION_MAKES_TOO_MUCH: Code = query("CDL-3005", "a function would make too much");
    pub const TIMED_OUT: Code = query("CDL-3010", "no answer within the time that was given");

    // Messages between processes.
    pub const QUEUE_FULL: Code = query("CDL-4001", "a queue is full").retryable();
    pub const NO_QUEUE: Code = query("CDL-4002", "there is no such queue");
    pub const RESULTS_OVER_QUOTA: Code = query("CDL-4003", "too many results that nobody reads");
    pub const STALE_DELIVERY: Code = query("CDL-4004", "a delivery that is no longer ours").retryable();
    pub const BROKER_LOST: Code = connection("CDL-4005", "the connection to the broker was lost").retryable();
    pub const NO_BROKER: Code = connection("CDL-4006", "no broker").retryable();
    pub const BROKER_REFUSES: Code = connection("CDL-4007", "the broker refuses");
    pub const NOT_A_MESSAGE: Code = query("CDL-4008", "something in a queue that is not a message");
    pub const MESSAGE_TOO_LARGE: Code = query("CDL-4009", "a message that is too large");
    pub const MESSAGE_UNENCODABLE: Code = query("CDL-4010", "a message cannot be encoded");
    pub const RABBITMQ_NOT_INSTALLED: Code = usage("CDL-4011", "RabbitMQ is not installed");
    pub const RABBITMQ_NOT_RUNNING: Code = connection("CDL-4012", "the private RabbitMQ does not run");
    pub const NO_CHANNEL: Code = connection("CDL-4013", "no channel to the broker is left").retryable();

    // Processes.
    pub const WORKER_TASK_DIED: Code = query("CDL-5001", "a task of the worker died");
    pub const CLIENT_TASK_DIED: Code = query("CDL-5002", "a task of the client died");
    pub const TOO_MANY_FRAGMENTS: Code = query("CDL-5003", "a table with too many fragments");
    pub const ENGINE_CANNOT_START: Code = query("CDL-5004", "the engine cannot start");
    pub const WORKER_LEFT: Code = query("CDL-5005", "the worker left");
    pub const RECORD_UNREADABLE: Code = query("CDL-5006", "what a shard wrote down cannot be read");
    pub const QUEUE_GONE: Code = query("CDL-5007", "a queue is gone").retryable();
    pub const POISON_FRAGMENT: Code = query("CDL-5008", "a poison fragment");
    pub const POISON_SHARD: Code = query("CDL-5009", "a poison shard");
    pub const SHARD_TAKEN_OVER: Code = query("CDL-5010", "a shard was taken over while it was being loaded").retryable();

    // The command line.
    pub const OUTPUT_UNWRITABLE: Code = usage("CDL-6001", "output cannot be written");
    pub const NO_EQUALS_SIGN: Code = usage("CDL-6002", "an option without its equals sign");
    pub const THREADS_CANNOT_START: Code = usage("CDL-6003", "threads cannot be started");
    pub const NAME_GIVEN_TWICE: Code = usage("CDL-6004", "a name given twice");
    pub const FOLDER_UNWRITABLE: Code = usage("CDL-6005", "a folder cannot be written to");
    pub const NOT_FOR_STDOUT: Code = usage("CDL-6006", "a format that stdout cannot take");
    pub const NO_DATA_FOLDER: Code = usage("CDL-6007", "no data folder");
    pub const QUERY_TEXT_UNREADABLE: Code = usage("CDL-6008", "the query's text cannot be read");
    pub const ANSWERS_DIFFER: Code = query("CDL-6009", "answers differ");
    pub const ORACLE_FAILED: Code = query("CDL-6010", "DataFusion alone cannot answer");
    pub const PARAMETER_NOT_IN_SQL: Code = usage("CDL-6011", "a parameter that the SQL does not have");
    pub const VALUE_UNWRITABLE: Code = query("CDL-6012", "a value cannot be written in this format");
    pub const OUTPUT_UNCLEAR: Code = usage("CDL-6013", "where or how results are to be written is not clear");
    pub const CLUSTER_FOLDER_UNUSABLE: Code = usage("CDL-6020", "the cluster's folder cannot be used");
    pub const CLUSTER_STATE_UNREADABLE: Code = usage("CDL-6021", "the cluster's file cannot be read");
    pub const CLUSTER_RUNNING: Code = usage("CDL-6022", "a cluster is running already");
    pub const NODE_DID_NOT_START: Code = usage("CDL-6023", "a node did not start");
    pub const NO_CLUSTER: Code = usage("CDL-6024", "no cluster here");
    pub const NODES_NOT_UP: Code = query("CDL-6025", "nodes are not up");
    pub const NO_TOKENS: Code = usage("CDL-6026", "no tokens to accept");
    pub const CLUSTER_FILE_UNUSABLE: Code = usage("CDL-6030", "the cluster file cannot be used");
    pub const NOT_A_MEMBER: Code = usage("CDL-6031", "a node that is not in the cluster file");
    pub const SECRET_UNREADABLE: Code = usage("CDL-6032", "the cluster's secret cannot be read");
    pub const HEALTH_CANNOT_LISTEN: Code = usage("CDL-6033", "health checks cannot be answered");
    pub const NODE_RUNNING: Code = usage("CDL-6034", "a node that is running already");
    pub const NODE_GIVEN_UP: Code = usage("CDL-6035", "a node is given up");
    pub const CLIENTS_WENT_WRONG: Code = query("CDL-6040", "clients whose answers are not those of one process");
    pub const CLUSTER_DID_NOT_MEND: Code = query("CDL-6041", "a cluster that did not mend");
    pub const NO_SUCH_SHELL_COMMAND: Code = usage("CDL-6050", "no such command of the shell");
    pub const BAD_SHELL_COMMAND: Code = usage("CDL-6051", "a command of the shell that is not whole");

    // The store and the journal.
    pub const STORE_FULL: Code = connection("CDL-7001", "the store is full");
    pub const STORE_FAILED: Code = connection("CDL-7002", "the store cannot be used").retryable();
    pub const BAD_STORE_URL: Code = usage("CDL-7003", "not the address of a store");
    pub const BAD_OBJECT_NAME: Code = query("CDL-7004", "not the name of an object");
    pub const FENCED: Code = query("CDL-7005", "another process owns the shard").retryable();
    pub const COMPACTED: Code = query("CDL-7006", "a journal changed while it was loaded").retryable();
    pub const JOURNAL_TOO_LARGE: Code = query("CDL-7007", "a journal is too large");
    pub const OBJECT_DAMAGED: Code = query("CDL-7008", "a damaged object");
    pub const OBJECT_GONE: Code = query("CDL-7009", "an object is gone");

    // Sessions on a cluster.
    pub const UNKNOWN_TOKEN: Code = connection("CDL-8001", "a token that is not known");
    pub const NO_SESSION: Code = connection("CDL-8002", "no such session");
    pub const TOO_MANY_SESSIONS: Code = connection("CDL-8003", "too many sessions").retryable();
    pub const BAD_REQUEST: Code = query("CDL-8004", "a request that makes no sense");
    pub const WRONG_COLUMNS: Code = query("CDL-8005", "columns that were not asked for");
    pub const BAD_BATCH: Code = query("CDL-8006", "a batch that cannot be read");
    pub const BATCH_TOO_LARGE: Code = query("CDL-8007", "a message that is too large");
    pub const SESSION_OVER: Code = query("CDL-8008", "a session that is over");
    pub const CLIENT_ELSEWHERE: Code = query("CDL-8009", "a client that has come back by another way").retryable();
    pub const GATEWAY_LEAVING: Code = query("CDL-8010", "a gateway that is leaving").retryable();
    pub const NO_WORKER: Code = query("CDL-8011", "a session that no worker has taken up");
    pub const CLIENT_GONE: Code = query("CDL-8012", "a client that is gone");
    pub const CANCELLED: Code = query("CDL-8013", "a session that was cancelled");
    pub const OTHER_PLAN: Code = query("CDL-8014", "a gateway that plans differently").retryable();
    pub const SESSION_TOO_LONG: Code = query("CDL-8030", "a session that was open for too long");
    pub const BAD_OBJECT: Code = query("CDL-8015", "an object that cannot be read");
    pub const GATEWAY_CANNOT_LISTEN: Code = usage("CDL-8016", "a gateway cannot listen");
    pub const TLS_FILE_UNREADABLE: Code = usage("CDL-8017", "a TLS file cannot be read");
    pub const GATEWAY_CANNOT_SERVE: Code = usage("CDL-8018", "a gateway cannot serve");
    pub const GATEWAY_TASK_DIED: Code = query("CDL-8019", "a task of the gateway died");
    pub const QUEUE_LOST: Code = query("CDL-8020", "a lost queue");
    pub const PLANNERS_BUSY: Code = connection("CDL-8021", "too many sessions wait to be planned").retryable();
    pub const PLANNER_CANNOT_START: Code = connection("CDL-8022", "a planner cannot be started").retryable();
    pub const GATEWAY_INSECURE: Code = usage("CDL-8023", "a gateway that is open to everybody");
    pub const OVER_QUOTA: Code = connection("CDL-8024", "more at once than a token may have").retryable();
    pub const CLUSTER_STOPPED: Code = query("CDL-8025", "the cluster was stopped");
    pub const QUEUE_MISSING: Code = query("CDL-8026", "a queue that has to be made again").retryable();

    // Clients of a cluster.
    pub const NO_GATEWAY: Code = connection("CDL-9001", "no gateway answers");
    pub const NOT_A_GATEWAY: Code = connection("CDL-9002", "refused by something that is not a gateway");
    pub const BAD_ADDRESS: Code = usage("CDL-9003", "not the address of a gateway");
    pub const GATEWAY_GARBLED: Code = connection("CDL-9004", "a gateway is not understood");
    pub const FRAGMENT_TOO_LARGE: Code = query("CDL-9005", "a fragment too large for a cluster");
    pub const BAD_TOKEN: Code = usage("CDL-9006", "a token that cannot be sent");
    pub const TLS_CANNOT_START: Code = connection("CDL-9007", "TLS cannot be set up");
    pub const WRONG_FRAGMENT: Code = query("CDL-9008", "a fragment is not what the session expects");
    pub const NOT_FOR_A_CLUSTER: Code = usage("CDL-9009", "an option that says nothing to a cluster");
}
