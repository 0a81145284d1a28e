/** The most connections of all processes together. */
export const maxConnections = 100

/** So many of them the server leaves to commands that run beside it. */
export const keptForCommands = 10

/** Written into postgresql.conf when a folder is new: from then on its owner may change them. */
export const firstSettings = {
  // One small service: little memory, few processes.
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
  // Nobody replicates it.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // Disks without heads, as good as everywhere.
  random_page_cost: '1.1',
  log_checkpoints: 'off',
}

/** What an acknowledged write, our connections and the reading of its log depend on. */
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
    // Neither statements that fail nor what they hold: it may be somebody's address.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
  }
}

/** Only part of the socket's name: nothing listens on a port. */
const socketPort = 5432
export const socketFile = `.s.PGSQL.${socketPort}`
