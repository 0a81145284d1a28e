/** The maximum number of connections of all processes together. */
export const maxConnections = 100

/** Connections that the server leaves free for commands that run at the same time. */
export const reservedForCommands = 10

/** Written to postgresql.conf when a folder is created; the operator may change them later. */
export const firstSettings = {
  // The database serves one small service, so it uses little memory and few processes.
  shared_buffers: '32MB',
  maintenance_work_mem: '32MB',
  max_wal_size: '256MB',
  min_wal_size: '32MB',
  io_method: 'sync',
  max_worker_processes: '2',
  max_parallel_workers: '0',
  autovacuum_worker_slots: '2',
  autovacuum_max_workers: '2',
  jit: 'off',
  // The database is not replicated.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // Most disks are solid-state disks without seek times.
  random_page_cost: '1.1',
  log_checkpoints: 'off',
}

/** Settings that durable writes, our connections and the parsing of the log depend on. */
export function toFixedSettings(socketFolder: string): Readonly<Record<string, string>> {
  return {
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    max_connections: `${maxConnections}`,
    listen_addresses: '',
    port: `${socketPort}`,
    unix_socket_directories: socketFolder,
    unix_socket_permissions: '0700',
    logging_collector: 'off',
    log_destination: 'stderr',
    log_line_prefix: '',
    lc_messages: 'C',
    // Failed statements are not logged, because their values may be personal data.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
  }
}

/** The port is only part of the name of the socket; no TCP port is opened. */
const socketPort = 5432
export const socketFile = `.s.PGSQL.${socketPort}`
