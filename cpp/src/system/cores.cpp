// How many cores this process may use.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "hedgerow/system/parallel.hpp"

namespace hedgerow {
namespace {

namespace fs = std::filesystem;

constexpr double kUnlimited = 1e9;

/// quota / period in cores; what is not a pair of positive numbers ("max", -1) sets no limit.
double as_cores(std::istream& quota, std::istream& period) {
  double allowed = 0.0, per = 0.0;
  if (quota >> allowed && period >> per && allowed > 0.0 && per > 0.0) return allowed / per;
  return kUnlimited;
}

double v2_limit(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  return as_cores(file, file);
}

double v1_limit(const fs::path& group) {
  std::ifstream quota(group / "cpu.cfs_quota_us"), period(group / "cpu.cfs_period_us");
  return as_cores(quota, period);
}

/// The tightest limit of a group and all those it lies in, up to the mount point.
template <class Limit>
double tightest(const fs::path& mount, fs::path group, Limit limit) {
  double cores = limit(mount);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path())
    cores = std::min(cores, limit(mount / group));
  return cores;
}

/// One line of /proc/self/cgroup: "hierarchy:controllers:path"; version 2 names no controllers.
double line_limit(const fs::path& mounts, const std::string& line) {
  std::istringstream fields(line);
  std::string hierarchy, controllers, path;
  std::getline(fields, hierarchy, ':');
  std::getline(fields, controllers, ':');
  std::getline(fields, path);
  if (controllers.empty())
    return std::min(tightest(mounts, path, v2_limit), tightest(mounts / "unified", path, v2_limit));
  if (("," + controllers + ",").find(",cpu,") == std::string::npos) return kUnlimited;
  return std::min(tightest(mounts / controllers, path, v1_limit),
                  tightest(mounts / "cpu", path, v1_limit));
}

int affinity_count() {
#ifdef __linux__
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int available_cores(const fs::path& root, int affinity) {
  double cores = std::max(affinity, 1);
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    cores = std::min(cores, std::ceil(line_limit(root / "sys/fs/cgroup", line)));
  return static_cast<int>(cores);
}

int available_cores() { return available_cores("/", affinity_count()); }

}  // namespace hedgerow
