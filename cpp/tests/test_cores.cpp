#include <unistd.h>

#include <fstream>
#include <string>

#include "check.hpp"
#include "hedgerow/system/parallel.hpp"

using hedgerow::available_cores;
namespace fs = std::filesystem;

/// A directory that stands for "/", gone at the end of the test.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (fs::temp_directory_path() / "hedgerow-root-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~FakeRoot() { fs::remove_all(root_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  FakeRoot& with(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
    return *this;
  }

  int cores(int affinity) const { return available_cores(root_, affinity); }

 private:
  fs::path root_;
};

TEST(without_control_groups_the_affinity_counts) {
  CHECK(FakeRoot().cores(6) == 6);
  CHECK(FakeRoot().cores(0) == 1);
}

TEST(a_version_2_quota_is_rounded_up) {
  FakeRoot root;
  root.with("proc/self/cgroup", "0::/job\n").with("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  CHECK(root.cores(8) == 3);
  CHECK(root.cores(2) == 2);
}

TEST(a_quota_below_one_core_leaves_one) {
  FakeRoot root;
  root.with("proc/self/cgroup", "0::/\n").with("sys/fs/cgroup/cpu.max", "10000 100000\n");
  CHECK(root.cores(8) == 1);
}

TEST(a_quota_of_max_sets_no_limit) {
  FakeRoot root;
  root.with("proc/self/cgroup", "0::/job\n").with("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  CHECK(root.cores(8) == 8);
}

TEST(the_quota_of_a_group_above_counts_too) {
  FakeRoot root;
  root.with("proc/self/cgroup", "0::/slice/job\n")
      .with("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n")
      .with("sys/fs/cgroup/slice/cpu.max", "200000 100000\n");
  CHECK(root.cores(8) == 2);
}

TEST(a_container_that_sees_only_the_mount_point_finds_its_quota_there) {
  FakeRoot root;
  root.with("proc/self/cgroup", "0::/not/visible/from/here\n")
      .with("sys/fs/cgroup/cpu.max", "400000 100000\n");
  CHECK(root.cores(8) == 4);
}

TEST(a_version_1_quota_is_read_where_the_cpu_controller_is_mounted) {
  FakeRoot root;
  root.with("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n")
      .with("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n")
      .with("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
      .with("sys/fs/cgroup/memory/job/cpu.cfs_quota_us", "100000\n")
      .with("sys/fs/cgroup/memory/job/cpu.cfs_period_us", "100000\n");
  CHECK(root.cores(8) == 3);
}

TEST(a_version_1_quota_of_minus_1_sets_no_limit) {
  FakeRoot root;
  root.with("proc/self/cgroup", "4:cpu:/\n")
      .with("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
      .with("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(root.cores(8) == 8);
}

TEST(this_machine_has_at_least_one_core) { CHECK(available_cores() >= 1); }
