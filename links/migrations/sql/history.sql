-- The history of links, so that a client can send former values back. The last three names
-- never change, or only when the domain is deleted.
-- Creating a link writes no row. No trigger records deletions: that of an account deletes its links and their history.
INSERT INTO accounts_historyname (table_name, name, columns, form, parts) VALUES
    ('links_link', 'customCode', '{custom_code}', 'plain', NULL),
    ('links_link', 'title', '{title}', 'plain', NULL),
    ('links_link', 'description', '{description}', 'plain', NULL),
    ('links_link', 'tags', '{tags}', 'plain', NULL),
    ('links_link', 'expiresAt', '{expires_at}', 'moment', NULL),
    ('links_link', 'password', '{password}', 'secret', NULL),
    ('links_link', 'utm', '{utm}', 'plain', NULL),
    ('links_link', 'restrictions', '{max_clicks, max_clicks_per_visitor, allowed_countries, blocked_countries, allowed_devices}', 'object', '{maxClicks, maxClicksPerVisitor, allowedCountries, blockedCountries, allowedDevices}'),
    ('links_link', 'redirectType', '{redirect_type}', 'plain', NULL),
    ('links_link', 'isActive', '{is_active}', 'plain', NULL),
    ('links_link', 'targetUrl', '{target_url}', 'plain', NULL),
    ('links_link', 'startsAt', '{starts_at}', 'moment', NULL),
    ('links_link', 'notStartedUrl', '{not_started_url}', 'plain', NULL),
    ('links_link', 'expiredUrl', '{expired_url}', 'plain', NULL),
    ('links_link', 'fallbackUrl', '{fallback_url}', 'plain', NULL),
    ('links_link', 'healthCheck', '{health_check}', 'plain', NULL),
    ('links_link', 'forwardQuery', '{forward_query}', 'plain', NULL),
    ('links_link', 'referrerPolicy', '{referrer_policy}', 'plain', NULL),
    ('links_link', 'rules', '{rules}', 'entries', NULL),
    ('links_link', 'split', '{split}', 'entries', NULL),
    ('links_link', 'preview', '{preview}', 'plain', NULL),
    ('links_link', 'externalId', '{external_id}', 'plain', NULL),
    ('links_link', 'isArchived', '{is_archived}', 'plain', NULL),
    ('links_link', 'originalUrl', '{original_url}', 'plain', NULL),
    ('links_link', 'shortCode', '{short_code}', 'plain', NULL),
    ('links_link', 'domainId', '{domain_id}', 'domain or base', NULL);

CREATE TRIGGER links_record_row AFTER UPDATE ON links_link FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('link.updated', 'owner_id');

INSERT INTO accounts_historyname (table_name, name, columns) VALUES
    ('links_utmtemplate', 'name', '{name}'),
    ('links_utmtemplate', 'values', '{values}'),
    ('links_utmtemplate', 'allowedValues', '{allowed}');

CREATE TRIGGER links_record_new_row AFTER INSERT ON links_utmtemplate FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('utm_template.created', 'owner_id');
CREATE TRIGGER links_record_row AFTER UPDATE ON links_utmtemplate FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('utm_template.updated', 'owner_id');
CREATE TRIGGER links_record_former_row AFTER DELETE ON links_utmtemplate FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('utm_template.deleted', 'owner_id');
