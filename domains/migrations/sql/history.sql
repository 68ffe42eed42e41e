INSERT INTO accounts_historyname (table_name, name, columns) VALUES
    ('domains_domain', 'fullDomain', '{host}'),
    ('domains_domain', 'status', '{status}'),
    ('domains_domain', 'rootUrl', '{root_url}'),
    ('domains_domain', 'notFoundUrl', '{not_found_url}'),
    ('domains_domain', 'expiredUrl', '{expired_url}'),
    ('domains_domain', 'pages', '{pages}'),
    ('domains_domain', 'appLinks', '{app_links}'),
    ('domains_domain', 'codeLength', '{code_length}'),
    ('domains_domain', 'codeAlphabet', '{code_alphabet}');

CREATE TRIGGER domains_record_new_row AFTER INSERT ON domains_domain FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('domain.created', 'owner_id', '{fullDomain}');
CREATE TRIGGER domains_record_row AFTER UPDATE ON domains_domain FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('domain.updated', 'owner_id');
CREATE TRIGGER domains_record_former_row AFTER DELETE ON domains_domain FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('domain.deleted', 'owner_id');
