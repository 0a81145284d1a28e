-- concurrently
alter table {ns}.oauth_authorizations validate constraint oauth_authorizations_status_check;
